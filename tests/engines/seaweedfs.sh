#!/usr/bin/env bash
# SeaweedFS on loopback, with what it stores in a directory.
#
#     tests/engines/seaweedfs.sh start|kill|restart|stop DIRECTORY PORT WEED      the four ports after PORT are used too
#
# `kill` is kill -9, and `restart` continues with the files in the directory.
set -euo pipefail
dir=$2 port=$3 weed=$4
here=$(cd "$(dirname "$0")" && pwd)

running() { [ -e "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null; }

case $1 in
start | restart)
  mkdir -p "$dir/data"
  setsid "$weed" server -dir="$dir/data" -ip=127.0.0.1 -ip.bind=127.0.0.1 \
    -master.port=$((port + 1)) -master.port.grpc=$((port + 11)) -volume.port=$((port + 2)) -volume.port.grpc=$((port + 12)) \
    -filer -filer.port=$((port + 3)) -filer.port.grpc=$((port + 13)) -s3 -s3.port="$port" -s3.port.grpc=$((port + 10)) \
    -s3.config="$here/identities.json" -master.volumeSizeLimitMB=64 -master.telemetry=false -volume.max=8 \
    >> "$dir.log" 2>&1 < /dev/null &
  echo $! > "$dir/pid"
  until (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do
    running || { echo "SeaweedFS does not start" >&2; exit 1; }
    sleep 0.2
  done
  ;;
kill) kill -9 "$(cat "$dir/pid")" ;;
stop)
  ! running || kill "$(cat "$dir/pid")"
  for try in $(seq 50); do
    running || exit 0
    sleep 0.2
  done
  kill -9 "$(cat "$dir/pid")"
  ;;
*) echo "seaweedfs.sh start|kill|restart|stop DIRECTORY PORT WEED" >&2; exit 2 ;;
esac
