#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The vendor's own files and ours for the same calls, read by one strict reader.
# scenario.csv and .json are what acltap writes: test_golden.sh compares them byte for byte.
set -eu
cd "$(dirname "$0")"
exec python3 strict_reader.py vendor/msprof_tx.csv vendor/msprof_tx.newer.json scenario.csv scenario.json
