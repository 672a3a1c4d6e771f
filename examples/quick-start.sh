#!/bin/sh
# Builds ckpt and shows its main job in an empty directory: a save, and what follows from it.
set -eu
cargo build --release --quiet
ckpt=$PWD/target/release/ckpt
project=$(mktemp -d)
cd "$project"

"$ckpt" save 042 --phases plan,build,test --phase plan --title "Quick start" --next "Write the parser"
"$ckpt" save 042 --phase build --status in_progress
"$ckpt" resume 042
"$ckpt" status 042
"$ckpt" list
echo "The store is $project/.ckpt"
