#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run_sh.sh [exec|child] PROGRAM [ARG...]: the wrapper scripts that people start jobs with:
# the program replaces the shell, or is its child and the status is passed on.
how=$1
shift
case $how in
exec) exec "$@" ;;
child) "$@"; exit $? ;;
*) echo "usage: run_sh.sh exec|child PROGRAM [ARG...]" >&2; exit 2 ;;
esac
