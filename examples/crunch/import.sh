#!/bin/sh
# A project as crunch leaves it in the middle of an issue, and how to go on with ckpt.
set -eu
ckpt import .claude/crunch
ckpt list 77 --quiet
ckpt resume 77

# The next batch is done; the YAML files, the index and the link to the latest follow.
ckpt save 77 --task notify=complete --trigger batch_complete --mirror crunch
grep total_checkpoints .claude/crunch/77/checkpoints/index.yaml
