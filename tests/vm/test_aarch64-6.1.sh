#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$0")/lib.sh"
vm_test aarch64 6.1
