#!/bin/sh
# A project as dotagent leaves it in the middle of the implementation, and how to go on with ckpt.
set -eu
ckpt import memory/state
ckpt resume invoice-reminders

# A task is done: the copy that the old prompts read follows.
ckpt save invoice-reminders --task task-002=complete --mirror dotagent
cat memory/state/execution.json
