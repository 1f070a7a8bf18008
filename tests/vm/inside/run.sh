#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs tests, as run-tests.sh, in the VM and says what its kernel has; tests/vm/lib.sh reads that.
cd "$(dirname "$0")/../../.." || exit 1
echo "kernel: $(uname -r)"
"${O:-build}/acltap" check 2>&1 | sed 's/^  yes  /has: /; s/^  no   /lacks: /'
scripts/run-tests.sh "$@"
