#!/usr/bin/env bash
# Tries every promise of the store, and prints the figures of docs/internals/proof.md. Takes about ten minutes on two
# cores. Needs root for storms and power cuts on file systems of its own, and Debian's e2fsprogs, xfsprogs, btrfs-progs
# and strace. With SECONDS_PER_FUZZER (default 20; 0 leaves fuzzing out), it needs cargo-fuzz too.
set -euo pipefail
cd "$(dirname "$0")/.."
export CI=true CKPT_PROOF=full RUST_BACKTRACE=0
seconds=${SECONDS_PER_FUZZER:-20}

# One harness after another, because storms compete for the processors.
harness() {
  echo "== $1"
  cargo test --locked --quiet --test it -- "$1::" --nocapture 2>&1 | tee "$log" | grep '^proof: ' | sort -u ||
    true
  # The runner's own summary decides; `grep` above only shows the figures.
  grep -E '^test result: ok\. [1-9]' "$log" | tail -1 || { cat "$log"; exit 1; }
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test --locked --quiet --test it --no-run
for name in protocol faults::disk faults::system_calls format::bit_rot races proof fuzz dialects::mutations import resume; do
  harness "$name"
done
# With every command line in a process of its own, which the ordinary run does without where it can.
for name in cli hooks promises; do
  CKPT_TEST_PROCESSES=1 harness "$name"
done

if [ "$seconds" != 0 ]; then
  command -v cargo-fuzz >/dev/null || { echo "cargo install cargo-fuzz, or set SECONDS_PER_FUZZER=0"; exit 1; }
  # The fuzzers need a sanitizer, which stable compilers allow with this variable.
  export RUSTC_BOOTSTRAP=1
  for target in $(cargo fuzz list); do
    echo "== fuzz $target"
    findings=target/fuzz-findings/$target
    mkdir -p "$findings"
    cargo fuzz run "$target" "$findings" "fuzz/corpus/$target" -- -max_total_time="$seconds" -rss_limit_mb=512 \
      -malloc_limit_mb=256 -timeout=10 >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
    grep -oE '^Done [0-9]+ runs in [0-9]+ second' "$log" | sed "s/^Done/proof: fuzzer $target:/; s/\$/s, nothing found/"
  done
fi
echo "== everything held in $SECONDS s"
