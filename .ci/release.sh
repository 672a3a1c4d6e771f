#!/bin/sh
# Builds the programs as they are shipped: static, for any Linux of this architecture.
#
#     .ci/release.sh [DIRECTORY]      puts ckpt and ckpt-remote into DIRECTORY, target/dist by default
#
# It needs the target x86_64-unknown-linux-musl (or aarch64). For ckpt-remote also a C compiler, because of the
# cryptography in it; without one, or with WITHOUT_REMOTE=1, only ckpt is built.
set -eu
cd "$(dirname "$0")/.."
out=${1:-target/dist}
target=$(uname -m)-unknown-linux-musl

# ckpt-remote has a directory of its own, so that its dependencies cannot change a feature of one that both have.
build() {
    work=target/dist-build/$1
    cargo build --locked --release -p "$1" --bin "$1" --target "$target" --target-dir "$work"
    mkdir -p "$out"
    install "$work/$target/release/$1" "$out/"
    echo "$out/$1"
}

build ckpt
if [ -z "${WITHOUT_REMOTE:-}" ] && command -v gcc >/dev/null; then
    CC="${CC:-gcc}" build ckpt-remote
else
    echo "ckpt-remote is not built" >&2
fi
