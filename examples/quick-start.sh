#!/bin/sh
# Builds ckpt and shows its main job in a new, empty directory: a save, and what follows from it. It can be started from any
# directory, and asks nothing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
case ${CARGO_TARGET_DIR:-/} in
  /*) ;;
  *) export CARGO_TARGET_DIR="$PWD/$CARGO_TARGET_DIR" ;;
esac
cd "$root"
cargo build --release
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
PATH=$target/release:$PATH

project=$(mktemp -d)
cd "$project"
export CKPT_STORE="$project/.ckpt" # whatever the environment says

ckpt start 042 --phases plan,build,test --phase plan --title "Quick start"
ckpt done 042 --phase plan --next "Write the parser"
ckpt start 042 --phase build
ckpt resume 042 --no-input
ckpt status 042
ckpt list
echo "The store is $project/.ckpt"
