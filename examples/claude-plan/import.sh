#!/bin/sh
# A project with a plan's checkpoint in .claude/data/checkpoints, and how to go on with ckpt.
set -eu
ckpt import .claude/data/checkpoints
ckpt resume implement_061_notifications

# The system never said how many phases there are; now it is said.
ckpt save implement_061_notifications --total 4 --phase 3
ckpt status implement_061_notifications
ckpt export implement_061_notifications --as claude-plan --force
