#!/usr/bin/env bash
# Three stores in network namespaces that are cut off and joined again while they save; as root.
#
#     tests/engines/partition.sh CKPT [ROUNDS]      CKPT with ckpt-remote beside it, and the engines of run.sh installed
#
# One store pushes with every save, one at the end of phases, one by hand. In every round each is online or offline by
# chance, saves, and sometimes syncs. At the end all are online and sync, and then must hold:
#
# - every save that was acknowledged is in every store, and all stores have the same checkpoints, byte for byte;
# - a workflow that was continued in several places is reported; merges make one head of it, in every store;
# - `verify` finds nothing.
set -euo pipefail
ckpt=$(realpath "$1") rounds=${2:-12}
cd "$(dirname "$0")/../.."
tools=${CKPT_ENGINES:-$PWD/target/engines}
work=$(mktemp -d)
. tests/engines/engines.sh
RANDOM=${SEED:-$$}
echo "seed ${SEED:-$$}"
net=ckpt$$ address=10.231.77.1

finish() {
  local code=$? n
  stop_engines
  for n in 0 1 2; do ip netns del "$net-$n" 2>/dev/null || true; done
  ip link del "$net" 2>/dev/null || true
  [ "$code" = 0 ] || echo "failed; the stores are in $work" >&2
  [ "$code" != 0 ] || rm -rf "$work"
  exit "$code"
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }

# A bridge with the engine on it, and a cable to each machine.
ip link add "$net" type bridge
ip addr add "$address/24" dev "$net"
ip link set "$net" up
for n in 0 1 2; do
  ip netns add "$net-$n"
  ip link add "v$n-$$" type veth peer name eth0 netns "$net-$n"
  ip link set "v$n-$$" master "$net" up
  ip -n "$net-$n" addr add "10.231.77.1$n/24" dev eth0
  ip -n "$net-$n" link set eth0 up
done
unplug() { ip -n "$net-$1" link set eth0 down; }
plug_in() { ip -n "$net-$1" link set eth0 up; }

install_engines
background moto "$tools/venv/bin/python" "$here/faulty_s3.py" "$address:5780"
make_bucket s3 "http://$address:5780" ckptaccess ckptsecretkey

# on N ARGUMENTS...: runs ckpt on a machine.
on() {
  local n=$1
  shift
  (cd "$work/m$n/project" && ip netns exec "$net-$n" env -i HOME="$work/m$n" PATH=/usr/bin:/bin CKPT_CEILING_DIRECTORIES="$work" \
    AWS_ACCESS_KEY_ID=ckptaccess AWS_SECRET_ACCESS_KEY=ckptsecretkey AWS_ENDPOINT_URL="http://$address:5780" "$ckpt" "$@")
}
push=(always end manual)
for n in 0 1 2; do
  mkdir -p "$work/m$n/project" "$work/m$n/.config/ckpt"
  printf '[remote]\nurl = "s3://ckpt/partition"\npush = "%s"\nallow_http = true\n' "${push[n]}" > "$work/m$n/.config/ckpt/config.toml"
done
on 0 save 042 --phases "$(seq -s, -f 'p%.0f' 200)" --set start=true > /dev/null
for n in 1 2; do on "$n" pull > /dev/null; done

# save N: a save with a mark of its own, acknowledged by exit code 0, or by 11 if only the own store has it.
count=0
save() {
  local code=0
  count=$((count + 1))
  local words=(save 042 --set "m$1_$count=true")
  [ $((RANDOM % 3)) != 0 ] || words=(done 042 --phase "p$count" --set "m$1_$count=true")
  on "$1" "${words[@]}" > /dev/null 2> "$work/said" || code=$?
  case $code in
    0 | 11) echo "m$1_$count" >> "$work/acknowledged" ;;
    *) fail "machine $1: exit $code: $(cat "$work/said")" ;;
  esac
}
offline=0
for _ in $(seq "$rounds"); do
  for n in 0 1 2; do
    if [ $((RANDOM % 2)) = 0 ]; then unplug "$n"; offline=$((offline + 1)); else plug_in "$n"; fi
    for _ in $(seq $((RANDOM % 3 + 1))); do save "$n"; done
    [ $((RANDOM % 3)) != 0 ] || on "$n" sync > /dev/null 2>&1 || true
  done
done
for n in 0 1 2; do plug_in "$n"; done

# Twice around: the first one learns of the last only then.
sync_all() { for _ in 1 2; do for n in 0 1 2; do on "$n" sync > /dev/null 2>&1; done; done; }
checkpoints() { (cd "$work/m$1/project/.ckpt" && find workflows sides -name '*.json' -size +0 -exec sha256sum {} + 2>/dev/null) | cut -d' ' -f1 | sort -u; }
same_everywhere() {
  for n in 1 2; do
    [ "$(checkpoints "$n")" = "$(checkpoints 0)" ] || fail "machine $n has other checkpoints than machine 0, $1"
  done
}
sync_all
same_everywhere "after sync"
# The marks in all checkpoints of all heads.
(cd "$work/m2/project/.ckpt" && find workflows sides -name '*.json' -size +0 -exec jq -r '.state? | objects | keys[]' {} +) | sort -u > "$work/marks"
lost=$(sort -u "$work/acknowledged" | comm -23 - "$work/marks")
[ -z "$lost" ] || fail "acknowledged and lost: $lost"
heads=$(on 1 resume 042 --json 2>/dev/null | jq '[.findings[] | select(.code == "forked")] | length' || true)
merges=0
# With more than two heads, merge asks which one.
while on 0 merge 042 > "$work/said" 2>&1 || on 0 merge 042 "$(grep -o '042/[0-9]*@[0-9a-f]*' "$work/said" | head -n 1)" > /dev/null 2>&1; do
  merges=$((merges + 1))
done
[ "$merges" = 0 ] || [ "${heads:-0}" -gt 0 ] || fail "$merges merges were needed, and resume did not say that it was continued in several places"
sync_all
same_everywhere "after the merges"
for n in 0 1 2; do
  on "$n" verify > /dev/null || fail "machine $n: verify: $(on "$n" verify 2>&1 | tail -n 3)"
  on "$n" resume 042 --json 2>/dev/null | jq -e '[.findings[] | select(.code == "forked")] | length == 0' > /dev/null || fail "machine $n still has several heads"
  on "$n" show 042 --json | jq -r '.. | .state? // empty | keys[]' | sort -u > "$work/marks"
  lost=$(sort -u "$work/acknowledged" | comm -23 - "$work/marks")
  [ -z "$lost" ] || fail "machine $n: not in the one head: $lost"
done
echo "$count saves acknowledged in $rounds rounds, offline $offline times: none lost, $merges merges made one head"
