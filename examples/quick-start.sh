#!/bin/sh
# Builds ckpt and shows its main job in an empty directory: record phases, and find out where to continue.
# It can be started from any directory, and asks nothing.
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
# Cargo reports where it puts the program, which depends on the environment and on its settings.
ckpt=$(cargo build --locked --manifest-path "$repository/Cargo.toml" --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
project=$(mktemp -d)
cd "$project"
# No other store is used, whatever lies above or is set in the environment.
export CKPT_STORE="$project/.ckpt" CKPT_NO_INPUT=1

show() {
    echo
    echo "\$ ckpt $*"
    "$ckpt" "$@"
}
show start demo --phases plan,build,test --phase plan
show done demo --phase plan --next "Write the parser"
show start demo --phase build
show resume demo
show done demo --phase build
show done demo --phase test
show list
echo
echo "The store is $CKPT_STORE"
