#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs test files in the VM and says what its kernel has; tests/vm/lib.sh reads that.
cd "$(dirname "$0")/../../.." || exit 1
echo "kernel: $(uname -r)"
build/acltap check >/tmp/check 2>&1
sed -n 's/^  yes  /has: /p; s/^  no   /lacks: /p' /tmp/check
tail -n 1 /tmp/check
scripts/run-tests.sh "$@"
