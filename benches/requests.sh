#!/usr/bin/env bash
# Counts the requests of saves with `push = "always"` to an S3 server on loopback: of one store alone, of 16 processes of one
# store, and of 16 machines at once.
#
#     benches/requests.sh
#
# The tests in `engines::storm` do the work and hold the limits; this prints their figures.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/engines/run.sh engines::storm | grep ' per save'
