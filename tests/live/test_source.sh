#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What `make check` finds in the sources and must not: who includes whom, a core that is not pure.
. "$(dirname "$0")/lib.sh"
check "folders are layers, the core is pure" env O="$O" scripts/check-layers.sh
finish
