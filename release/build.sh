#!/bin/sh
# Builds the programs as they are shipped: static, and ckpt with the functions of the everyday commands side by side.
#
#     release/build.sh [DIRECTORY]      puts ckpt and ckpt-remote into DIRECTORY, target/dist by default
#
# It needs the target x86_64-unknown-linux-musl (or aarch64), and valgrind. For ckpt-remote also a C compiler, because of
# the cryptography in it; without one, or with WITHOUT_REMOTE=1, only ckpt is built.
set -eu
cd "$(dirname "$0")/.."
out=${1:-target/dist}
target=$(uname -m)-unknown-linux-musl
work=$PWD/target/dist-build
mkdir -p "$out"

# A copy: a freshly linked file is not yet laid out on the disk, and starts more slowly.
ship() {
    cp "$1" "$out/$(basename "$1").new"
    mv "$out/$(basename "$1").new" "$out/$(basename "$1")"
    echo "$out/$(basename "$1")"
}

# Apart from ckpt, so that its dependencies cannot change a feature of one that both have.
if [ -z "${WITHOUT_REMOTE:-}" ] && command -v gcc >/dev/null; then
    CC="${CC:-gcc}" cargo build --locked --release --bin=ckpt-remote --features remote --target "$target" --target-dir "$work-remote"
    ship "$work-remote/$target/release/ckpt-remote"
else
    echo "ckpt-remote is not built" >&2
fi

command -v valgrind >/dev/null || echo "no valgrind: the functions stay where the compiler put them" >&2
# The names of functions have to be there while it is linked.
CARGO_PROFILE_RELEASE_STRIP=none cargo rustc --locked --release --bin=ckpt --target "$target" --target-dir "$work" -- \
    -Clinker-flavor=gcc "-Clinker=$PWD/release/link.sh"
strip -o "$work/ckpt" "$work/$target/release/ckpt"
ship "$work/ckpt"
