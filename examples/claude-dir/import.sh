#!/bin/sh
# A project with a checkpoint in .claude/checkpoints, and how to go on with ckpt.
set -eu
ckpt import .claude/checkpoints
ckpt resume implement_search_index
ckpt save implement_search_index --phase 3
ckpt export implement_search_index --as claude-dir --force
