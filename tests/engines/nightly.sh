#!/usr/bin/env bash
# What run.sh does, against SeaweedFS and a real Ceph; as root on Debian.
#
#     tests/engines/nightly.sh
#
# Ceph is killed and started again while stores save to it, and so are clients: `engines::killed`.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "as root, for Ceph" >&2; exit 2; }
command -v radosgw ceph-mon ceph-osd > /dev/null ||
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ceph-mon ceph-osd radosgw ceph-common; } > /dev/null
tools=${CKPT_ENGINES:-$PWD/target/engines}
work=$(mktemp -d)
. tests/engines/engines.sh

finish() {
  local code=$?
  tests/engines/ceph.sh stop "$work/ceph" 5770 || true
  stop_engines
  [ "$code" = 0 ] || tail -n 5 "$work"/*.log "$work"/ceph/run/*.log
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT

install_engines
start_seaweedfs 5720
tests/engines/ceph.sh start "$work/ceph" 5770
make_bucket s3 http://127.0.0.1:5770 ckptaccess ckptsecretkey
described Ceph s3://ckpt/tests "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:5770\"" \
  "\"kill\": \"$PWD/tests/engines/ceph.sh kill $work/ceph 5770 && $PWD/tests/engines/ceph.sh restart $work/ceph 5770\""
write_engines
run_tests engines::
