# Starts object stores on loopback, for run.sh and nightly.sh: sourced, not run. Needs $work, a directory for everything that
# is written, and $tools, where the engines are installed.
#
# Every process that is started is noted in $work/pids, or the command that ends it in $work/stop, for stop_engines. Ports are
# the callers' to choose.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
S3_KEYS='"AWS_ACCESS_KEY_ID": "ckptaccess", "AWS_SECRET_ACCESS_KEY": "ckptsecretkey"'

# Installs the engines, each by version and hash, unless they are there.
install_engines() {
  mkdir -p "$tools"
  if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
    python3 -m venv --clear "$tools/venv"
    "$tools/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/"
  fi
  if ! cmp -s "$here/package-lock.json" "$tools/package-lock.json"; then
    cp "$here/package.json" "$here/package-lock.json" "$tools/"
    npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --loglevel=error
  fi
}

# background NAME COMMAND...: starts an engine, whose output goes to $work/NAME.log.
background() {
  local name=$1
  shift
  "$@" > "$work/$name.log" 2>&1 < /dev/null &
  echo $! >> "$work/pids"
}

# described NAME URL ENVIRONMENT [MORE]: notes an engine for the tests.
described() {
  echo "{\"name\": \"$1\", \"url\": \"$2\", \"env\": {$3}${4:+, $4}}" >> "$work/engines.jsonl"
}

make_bucket() {
  "$tools/venv/bin/python" "$here/bucket.py" "$@"
}

# S3 in memory that is atomic, with faults on demand.
start_moto() { # PORT
  background moto "$tools/venv/bin/python" "$here/faulty_s3.py" "$1"
  make_bucket s3 "http://127.0.0.1:$1" ckptaccess ckptsecretkey
  described moto s3://ckpt/tests "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$1\"" "\"control\": \"127.0.0.1:$1\""
}

# S3 with the policy of the documentation, for an account that adds and never alters.
start_add_only() { # PORT
  background add-only "$tools/venv/bin/python" "$here/faulty_s3.py" "$1" --policy "$here/../../docs/guide/object-stores.md"
  make_bucket s3 "http://127.0.0.1:$1" ckptaccess ckptsecretkey team-bucket
  described "moto, add only" s3://team-bucket/ckpt "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$1\"" '"adds_only": true'
}

start_seaweedfs() { # PORT, and the four after it
  local weed="$here/seaweedfs.sh" rest="$work/seaweedfs $1 $tools/venv/bin/weed"
  $weed start $rest
  echo "$weed stop $rest" >> "$work/stop"
  make_bucket s3 "http://127.0.0.1:$1" ckptaccess ckptsecretkey
  described SeaweedFS s3://ckpt/tests "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$1\"" \
    "\"kill\": \"$weed kill $rest && $weed restart $rest\""
}

start_azurite() { # PORT
  background azurite "$tools/node_modules/.bin/azurite-blob" --inMemoryPersistence --blobHost 127.0.0.1 --blobPort "$1" \
    --skipApiVersionCheck --silent
  make_bucket azure "http://127.0.0.1:$1"
  described Azurite az://ckpt/tests "\"AZURE_STORAGE_USE_EMULATOR\": \"true\", \"AZURITE_BLOB_STORAGE_URL\": \"http://127.0.0.1:$1\""
}

# Engines that the probe must refuse: moto without its lock, rclone and s3rver, which ignore `If-None-Match`.
start_unsuitable() { # PORT, and the two after it
  local overwrites='"refused": "it overwrites an object that exists"'
  background moto-not-atomic "$tools/venv/bin/python" "$here/faulty_s3.py" "$1" --not-atomic
  make_bucket s3 "http://127.0.0.1:$1" ckptaccess ckptsecretkey
  described "moto, not atomic" s3://ckpt/tests "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$1\"" \
    '"refused": "writers that created one object at the same time"'
  mkdir -p "$work/rclone/ckpt" "$work/s3rver/ckpt"
  background rclone "$tools/venv/bin/rclone" --config /dev/null serve s3 --addr "127.0.0.1:$(($1 + 1))" \
    --auth-key ckptaccess,ckptsecretkey "$work/rclone"
  make_bucket s3 "http://127.0.0.1:$(($1 + 1))" ckptaccess ckptsecretkey
  described "rclone serve s3" s3://ckpt/tests "$S3_KEYS, \"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$(($1 + 1))\"" "$overwrites"
  background s3rver "$tools/node_modules/.bin/s3rver" --address 127.0.0.1 --port $(($1 + 2)) --directory "$work/s3rver" --configure-bucket ckpt
  make_bucket s3 "http://127.0.0.1:$(($1 + 2))" S3RVER S3RVER
  described s3rver s3://ckpt/tests "\"AWS_ACCESS_KEY_ID\": \"S3RVER\", \"AWS_SECRET_ACCESS_KEY\": \"S3RVER\", \
\"AWS_ENDPOINT_URL\": \"http://127.0.0.1:$(($1 + 2))\"" "$overwrites"
}

# Writes the file that the tests read.
write_engines() {
  { echo '['; sed '$!s/$/,/' "$work/engines.jsonl"; echo ']'; } > "$work/engines.json"
  export CKPT_TEST_ENGINES="$work/engines.json"
}

# Runs the tests with this in their names, one at a time: some count the requests of an engine, or let it fail. `ckpt-remote`
# is built by itself: it brings most of its own crates, and the program with the tests stays the existing one.
run_tests() {
  cargo build --locked -p ckpt-remote
  CI=true cargo test --locked --test it -- "$1" --include-ignored --nocapture --test-threads 1
}

stop_engines() {
  local pid
  [ ! -e "$work/stop" ] || bash "$work/stop" || true
  [ ! -e "$work/pids" ] || while read -r pid; do kill "$pid" 2>/dev/null || true; done < "$work/pids"
  wait
}
