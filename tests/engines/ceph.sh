#!/usr/bin/env bash
# A Ceph cluster with an S3 gateway, on loopback and in one directory; as root.
#
#     ceph.sh start|kill|restart|stop DIRECTORY PORT
#
# One monitor, one OSD on BlueStore and one gateway, without authentication between them; the S3 user is
# ckptaccess/ckptsecretkey. `kill` is kill -9 of all three. Debian: ceph-mon ceph-osd radosgw ceph-common.
set -euo pipefail
action=$1 dir=$2 port=$3
export CEPH_CONF=$dir/ceph.conf

# Prints the processes of this cluster; a pid file may outlive its process, and its number be given to another.
processes() {
  local file pid
  for file in "$dir"/run/*.pid; do
    [ -e "$file" ] && pid=$(cat "$file") && grep -qs -F "$CEPH_CONF" "/proc/$pid/environ" && echo "$pid"
  done
  return 0
}

# Waits until the gateway answers.
wait_for_gateway() {
  local try
  for try in $(seq 300); do
    (exec 3<> "/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
    sleep 0.2
  done
  echo "the gateway does not answer; see $dir/run" >&2
  return 1
}

# An OSD that asks before the monitor knows its map ends at once: it is started again.
start_osd() {
  local try
  for try in 1 2 3 4 5 6; do
    ceph-osd -i 0 2>> "$dir/run/osd-start.log" && return
    sleep 0.3
  done
  return 1
}

start_daemons() {
  ceph-mon -i a
  start_osd
  radosgw -n client.rgw
  wait_for_gateway
}

configure() {
  cat > "$CEPH_CONF" <<CONF
[global]
fsid = $1
mon host = [v1:127.0.0.1:$((port + 1))]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail crit = 1
admin socket = $dir/run/\$name.asok
pid file = $dir/run/\$name.pid
log file = $dir/run/\$name.log
mon cluster log file = $dir/run/cluster.log
crash dir = $dir/run
[mon]
mon data = $dir/mon
[osd]
osd data = $dir/osd
osd objectstore = bluestore
osd memory target = 939524096
bluestore block create = true
bluestore block size = 4294967296
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw dynamic resharding = false
CONF
}

case $action in
start)
  mkdir -p "$dir/run" "$dir/mon" "$dir/osd"
  fsid=$(cat /proc/sys/kernel/random/uuid) osd=$(cat /proc/sys/kernel/random/uuid)
  configure "$fsid"
  {
    ceph-authtool --create-keyring "$dir/keyring" --gen-key -n mon. --cap mon 'allow *'
    monmaptool --create --addv a "[v1:127.0.0.1:$((port + 1))]" --fsid "$fsid" "$dir/monmap"
    ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/keyring"
    ceph-mon -i a
    ceph osd new "$osd" 0
    ceph-osd -i 0 --mkfs --osd-uuid "$osd"
    start_osd
    radosgw -n client.rgw
    wait_for_gateway
    radosgw-admin user create --uid=ckpt --display-name=ckpt --access-key=ckptaccess --secret-key=ckptsecretkey
  } > "$dir/run/start.log" 2>&1
  ;;
kill) processes | xargs -r kill -9 ;;
restart) start_daemons >> "$dir/run/start.log" 2>&1 ;;
stop)
  processes | xargs -r kill
  for try in $(seq 50); do
    [ -z "$(processes)" ] && exit 0
    sleep 0.2
  done
  processes | xargs -r kill -9
  ;;
*) echo "ceph.sh start|kill|restart|stop DIRECTORY PORT" >&2; exit 2 ;;
esac
