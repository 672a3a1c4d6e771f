#!/bin/sh
# Builds the programs as they are shipped: static, and ckpt with the functions of the everyday commands side by side.
#
#     release/build.sh [DIRECTORY]      puts ckpt and ckpt-remote into DIRECTORY, target/dist by default
#
# A process pays a page fault for every 64 KiB of its program that it enters. The linker leaves functions where the compiler
# put them, so the few hundred that a save needs are spread over all of it. So the program is built twice: valgrind
# records which functions everyday commands and hooks run, and the second build places those first. On an idle machine that is
# worth a fifth of a `show`. Without valgrind, the first build is shipped; only speed depends on the second.
#
# It needs the target x86_64-unknown-linux-musl (or aarch64), and valgrind. For ckpt-remote also a C compiler, because of
# the cryptography in it; without one, or with WITHOUT_REMOTE=1, only ckpt is built.
set -eu
cd "$(dirname "$0")/.."
out=${1:-target/dist}
target=$(uname -m)-unknown-linux-musl
work=$PWD/target/dist-build
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)

build() {
    CARGO_PROFILE_RELEASE_STRIP=none cargo rustc --locked --release --bin=ckpt --target "$target" --target-dir "$work" -- "$@"
}
ship() {
    strip -o "$scratch/ckpt" "$work/$target/release/ckpt"
    # A copy: a freshly linked file is not yet laid out on the disk, and starts more slowly.
    cp "$scratch/ckpt" "$out/ckpt.new"
    mv "$out/ckpt.new" "$out/ckpt"
    echo "$out/ckpt"
}
# Apart from ckpt, so that its dependencies cannot change a feature of one that both have.
build_remote() {
    if [ -n "${WITHOUT_REMOTE:-}" ] || ! command -v gcc >/dev/null; then
        echo "ckpt-remote is not built" >&2
        return
    fi
    CC="${CC:-gcc}" cargo build --locked --release --bin=ckpt-remote --features remote --target "$target" --target-dir "$work-remote"
    cp "$work-remote/$target/release/ckpt-remote" "$out/ckpt-remote.new"
    mv "$out/ckpt-remote.new" "$out/ckpt-remote"
    echo "$out/ckpt-remote"
}

build_remote
build
if ! command -v valgrind >/dev/null; then
    echo "no valgrind: the functions stay where the compiler put them" >&2
    ship
    exit
fi
cp "$work/$target/release/ckpt" "$scratch/first"

# A project in a git checkout, and a workflow with a few checkpoints.
mkdir -p "$scratch/project/.git/refs/heads"
cd "$scratch/project"
echo 'ref: refs/heads/main' > .git/HEAD
echo 0123456789012345678901234567890123456789 > .git/refs/heads/main
state='{"files": [{"path": "src/a.rs", "lines": 12, "done": true, "note": null}], "remark": "half done"}'
for phase in plan design; do
    "$scratch/first" save 042 --phases plan,design,build,test --phase "$phase" --state "$state" --quiet > /dev/null
done
recorded=0
record() {
    recorded=$((recorded + 1))
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$scratch/$recorded.out" "$scratch/first" "$@" > /dev/null 2>&1
}
plan() { # plan STATUS: what an agent reports to a hook
    printf '{"session_id": "s", "tool_name": "TodoWrite", "tool_input": {"todos": [{"content": "Read", "status": "%s"}]}}' "$1"
}
record save 042 --phase build --status=in_progress
record show 042
record list
record resume 042 || true # `confirm` has an exit code of its own
record status 042
# A hook runs more often than anything else: with a plan that is known already, and with a changed one.
plan in_progress > begun.json
plan completed > done.json
"$scratch/first" hook claude PostToolUse < begun.json
record hook claude PostToolUse < begun.json
record hook claude PostToolUse < done.json
cd "$OLDPWD"

# Those of a save come first, which is the first profile; and in front of the others, those that most commands share.
for profile in $(seq $recorded); do
    sed -n "s/^c\{0,1\}fn=([0-9]*) \(.*\)/\1/p" "$scratch/$profile.out" | sed "s/'[0-9]*\$//" | sort -u | sed "s/^/$profile /"
done | awk '{ used[$2]++; if (!($2 in first)) first[$2] = $1 }
            END { for (name in used) print (first[name] > 1), -used[name], first[name], name }' |
    sort -k1,1n -k2,2n -k3,3n -k4,4 | awk '{ print $4 }' > "$scratch/used"
# The linker may have merged equal functions under several names, of which valgrind reports one.
nm --defined-only "$scratch/first" | awk '$2 ~ /[tTwW]/ { print $1, $3 }' > "$scratch/names"
awk 'NR == FNR { at[$2] = $1; names[$1] = names[$1] " " $2; next }
     $1 in at { n = split(names[at[$1]], all, " "); for (i = 1; i <= n; i++) if (!seen[all[i]]++) print all[i] }' \
    "$scratch/names" "$scratch/used" > "$scratch/hot"
[ -s "$scratch/hot" ] || { echo "valgrind recorded no function" >&2; exit 1; }
{
    echo 'SECTIONS {'
    echo '  .text.end : { KEEP(*(SORT_NONE(.fini))) }'
    echo '  .text.hot : {'
    echo '    *crt1.o(.text)'
    echo '    *libc.a:*(.text .text.*)'
    # valgrind has no SHA instructions, so it records the other implementation.
    echo '    *(.text.*4sha2*)'
    # The compiler sets functions apart that it believes to be rare.
    sed 's/.*/    *(.text.& .text.unlikely.&)/' "$scratch/hot"
    echo '  }'
    echo '}'
    echo 'INSERT BEFORE .text;'
} > "$scratch/order.ld"
# Cargo links again only if the name is another one.
order=$work/order-$(cksum < "$scratch/order.ld" | tr ' ' -).ld
cp "$scratch/order.ld" "$order"
echo "$(wc -l < "$scratch/hot") functions are placed first" >&2
build "-Clink-arg=-Wl,-T,$order"
ship
