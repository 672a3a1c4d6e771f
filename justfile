# The few commands one types. Each is one line that can be typed without `just`.

# Lists the recipes.
default:
    @just --list --unsorted

# Runs the tests, or those whose path contains the filter.
test *filter:
    cargo test --locked {{filter}}

# Checks formatting, lints, documentation, dependencies and licences.
lint:
    cargo fmt --check
    cargo clippy --locked --workspace --all-targets -- -D warnings
    cargo clippy --locked -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --quiet --document-private-items
    cargo machete
    cargo deny check licenses bans sources

# Compares whole processes; builds the release first.
bench *args:
    cargo bench --bench processes -- {{args}}

# Searches for bytes that break a reader (`cargo +nightly fuzz list` names the targets).
fuzz target seconds="180":
    mkdir -p target/fuzz-findings/{{target}}
    cargo +nightly fuzz run {{target}} target/fuzz-findings/{{target}} fuzz/corpus/{{target}} -- -max_total_time={{seconds}} -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=10

# Tries every promise of the store, and prints the figures of docs/internals/proof.md; as root.
proof:
    tests/proof.sh

# Runs everything that must pass before a change lands.
ci:
    .ci/run
