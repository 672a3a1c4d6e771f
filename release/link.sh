#!/bin/sh
# The linker of a release build: links ckpt, records which functions everyday commands and hooks run, and links it again with
# those side by side. Cargo starts it with the arguments of a C compiler.
#
# A process pays a page fault for every 64 KiB of its program that it enters. A linker leaves functions where the compiler
# put them, so the few hundred that a save needs are spread over all of it. On an idle machine the order is worth a fifth of a
# `show`. Without valgrind, which records them, the program is linked once; only speed depends on the order.
set -eu
${CC:-cc} "$@"
command -v valgrind >/dev/null || exit 0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for argument in "$@"; do
    [ "${before:-}" != -o ] || cp "$argument" "$scratch/ckpt"
    before=$argument
done

# A project in a git checkout, and a workflow with a few checkpoints.
mkdir -p "$scratch/project/.git/refs/heads"
cd "$scratch/project"
echo 'ref: refs/heads/main' > .git/HEAD
echo 0123456789012345678901234567890123456789 > .git/refs/heads/main
state='{"files": [{"path": "src/a.rs", "lines": 12, "done": true, "note": null}], "remark": "half done"}'
for phase in plan design; do
    "$scratch/ckpt" save 042 --phases plan,design,build,test --phase "$phase" --state "$state" --quiet > /dev/null
done
recorded=0
record() {
    recorded=$((recorded + 1))
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$scratch/$recorded.out" "$scratch/ckpt" "$@" > /dev/null 2>&1
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
"$scratch/ckpt" hook claude PostToolUse < begun.json
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
nm --defined-only "$scratch/ckpt" | awk '$2 ~ /[tTwW]/ { print $1, $3 }' > "$scratch/names"
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
${CC:-cc} "$@" "-Wl,-T,$scratch/order.ld"
