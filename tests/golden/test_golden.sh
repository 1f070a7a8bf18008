#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every event script of this folder in every format, byte for byte. After a change that is meant:
#   make golden-update, and read the difference before it is committed.
set -eu
cd "$(dirname "$0")/../.."
exec "$O/san/golden" tests/golden/*.ev
