#!/bin/sh
# Writes benches/hot.ld: which functions the commands that agents run again and again are made of.
#
# A process that starts has none of its program in its address space, and pays for every 64 KiB that it enters. The
# linker leaves functions where the compiler has put them, so the few hundred that a save needs lie all over the program,
# between those of commands that hardly anybody runs. This finds out which they are, and has the linker put them side by
# side, those that most commands share first. Nothing depends on it but speed: a name that no longer fits is passed over.
#
# Run it when those commands have changed much. It needs valgrind and the musl target.
set -eu
cd "$(dirname "$0")/.."
target=$(uname -m)-unknown-linux-musl

CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --bin=ckpt --target "$target" --target-dir target/hot
ckpt=$PWD/target/hot/$target/release/ckpt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A project in a git checkout, with a workflow of a few checkpoints.
mkdir -p "$scratch/project/.git/refs/heads"
cd "$scratch/project"
echo 'ref: refs/heads/main' > .git/HEAD
echo 0123456789012345678901234567890123456789 > .git/refs/heads/main
state='{"files": [{"path": "src/a.rs", "lines": 12, "done": true, "note": null}], "remark": "half done"}'
for phase in plan design; do
    "$ckpt" save 042 --phases plan,design,build,test --phase "$phase" --state "$state" --quiet > /dev/null
done

run() {
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$scratch/$1.out" "$ckpt" "$@" > /dev/null 2>&1
}
run save 042 --phase build --status=in_progress
run show 042
run list
run resume 042 || true # it may ask for a confirmation, which is an exit code
run status 042

# A function may have several names, of which valgrind tells one.
nm --defined-only "$ckpt" | awk '$2 ~ /[tTwW]/ { print $1, $3 }' > "$scratch/names"
for profile in "$scratch"/*.out; do
    command=$(basename "$profile" .out)
    sed -n "s/^c\{0,1\}fn=([0-9]*) \(.*\)/\1/p" "$profile" | sed "s/'[0-9]*\$//" | sort -u | sed "s/\$/ $command/"
done | awk '{ in_all[$1]++; which[$1] = which[$1] $2 } END { for (name in which) print in_all[name], which[name], name }' |
    sort -k1,1nr -k2,2 -k3,3 | awk '{ print $3 }' > "$scratch/used"
awk 'NR == FNR { at[$2] = $1; names[$1] = names[$1] " " $2; next }
     $1 in at { n = split(names[at[$1]], all, " "); for (i = 1; i <= n; i++) print all[i] }' \
    "$scratch/names" "$scratch/used" |
    # What a crate is called in a name differs between compilers, and so do references back to it. For which crate a
    # generic function was made, which is said at the end, is the choice of a moment.
    sed 's/Cs[0-9A-Za-z]*_/Cs*_/g; s/B[0-9A-Za-z]*_/B*_/g; s/\.llvm\.[0-9]*$/*/; s/\.[0-9]*$/*/; s/B\*_$/*/' |
    awk 'gsub(/Cs\*_/, "&") > 1 && match($0, /Cs\*_[0-9]+[a-z_][a-z0-9_]*$/) {
             crate = substr($0, RSTART + 4)
             if (length(crate) == length(crate + 0) + crate) $0 = substr($0, 1, RSTART - 1) "*"
         }
         !seen[$0]++' > "$scratch/patterns"

cd "$OLDPWD"
{
    echo '/* Written by benches/hot.sh, which says what it is for. */'
    echo 'SECTIONS'
    echo '{'
    echo '  .text.end : { KEEP(*(SORT_NONE(.fini))) }'
    echo '  .text.hot :'
    echo '  {'
    echo '    *crt1.o(.text)'
    echo '    *libc.a:*(.text .text.*)'
    # Valgrind does not know the instructions that most processors have for this.
    echo '    *(.text.*4sha2*)'
    # What the compiler believes to be rare is set apart, but a vector that grows is not.
    sed 's/.*/    *(.text.& .text.unlikely.&)/' "$scratch/patterns"
    echo '  }'
    echo '}'
    echo 'INSERT BEFORE .text;'
} > benches/hot.ld
echo "$(wc -l < "$scratch/patterns") functions in benches/hot.ld"
