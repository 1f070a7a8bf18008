#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the benchmark in a mount namespace of its own, where the tracefs that perf and bpftrace need
# can be mounted without a trace on the machine. usage: O=BUILD bench.sh [options of bench.py]
set -u
cd "$(dirname "$0")" || exit 1
if [ "$(id -u)" -ne 0 ]; then
	echo "bench: tracing needs root" >&2
	exit 1
fi
# shellcheck disable=SC2016
exec unshare -m bash -c '
	[ -e /sys/kernel/tracing/uprobe_events ] ||
		mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
	exec python3 -B bench.py "$@"' bench "$(cd ../.. && realpath "${O:-build}")" "$@"
