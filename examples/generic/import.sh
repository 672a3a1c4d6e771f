#!/bin/sh
# Files that agents and scripts invent: what they say is seen from their shape.
set -eu
ckpt resume --file state.json || true
ckpt import state.json nightly.checkpoint release.yaml
ckpt list
ckpt resume nightly_20260130 || true
