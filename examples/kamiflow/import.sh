#!/bin/sh
# A project as KamiFlow leaves it after phase 2, and how to go on with ckpt.
set -eu
ckpt import .kamiflow/checkpoints
ckpt resume 051

# From here on ckpt keeps the checkpoints, and a copy for prompts that still look for the old files.
ckpt save 051 --phase 3A --next "Validate the artifacts" --mirror kamiflow
ls .kamiflow/checkpoints

# What was imported is exported as it was.
ckpt export 051 --as kamiflow -o copies/ --quiet > /dev/null
diff -r .kamiflow copies/.kamiflow && echo "all files are the same"
