#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With whose rights acltap traces, and whose the outputs are: -u, sudo, capabilities (S48).
. "$(dirname "$0")/lib.sh"
need_uprobes
user=nobody
uid=$(id -u "$user") gid=$(id -g "$user")
RUNNING=000000c000280020	# CAP_KILL, SYS_PTRACE, SYS_ADMIN, PERFMON, BPF
own=$tmp/own
mkdir "$own"
chown "$uid:$gid" "$own"
# The targets must be readable for that user.
cp "$T/seed_loops" "$tmp/" && mkdir "$tmp/jmp" && cp "$T"/jmp/*.so "$tmp/jmp/"
chmod -R a+rX "$tmp/jmp" "$tmp/seed_loops"
export LD_LIBRARY_PATH=$tmp/jmp

owners() {	# files: the distinct owners
	find "$@" -printf '%U:%G\n' | sort -u | paste -sd ' '
}

value_of() {	# key, status file
	sed -n "s/^$1:[[:space:]]*//p" "$2"
}

# ---- -u ----
run_acltap record -u "$user" -o "$own/run" -- sh -c '
	cat /proc/self/status >"$0"; echo "$HOME $USER $LOGNAME $KEPT"; id -G; exec "$1" all 10' \
	"$own/status" "$tmp/seed_loops"
assert_eq "-u: status" "$status" 0
assert_eq "-u: real, effective, saved and file user" "$(value_of Uid "$own/status" | tr -s '\t' ' ')" \
	"$uid $uid $uid $uid"
assert_eq "-u: real, effective, saved and file group" "$(value_of Gid "$own/status" | tr -s '\t' ' ')" \
	"$gid $gid $gid $gid"
for set in CapInh CapPrm CapEff CapAmb; do
	assert_eq "-u: no capability in $set" "$(value_of $set "$own/status")" 0000000000000000
done
assert_eq "-u: a set-user-id program still works" "$(value_of NoNewPrivs "$own/status")" \
	"$(value_of NoNewPrivs /proc/self/status)"
assert_eq "-u: the groups" "$(sed -n 2p "$tmp/stdout")" "$(id -G "$user")"
assert_eq "-u: the environment says who it is" "$(sed -n 1p "$tmp/stdout" | xargs)" \
	"$(getent passwd "$user" | cut -d : -f 6) $user $user"
assert_eq "-u: everything belongs to the user" "$(owners "$own")" "$uid:$gid"
run_acltap record -u "$user" -o "$own/x.ndjson" -o "$own/x.acltap" -o "$own/x.csv" -- \
	"$tmp/seed_loops" all 10
assert_eq "-u: single files" "$status/$(owners "$own"/x.*)" "0/$uid:$gid"
assert_eq "-u: events" "$(grep -c '"kind"' "$own/x.ndjson")" 30
# acltap and its guardian are not the user's to signal.
run_acltap record -u "$user" -o "$own/sig.csv" -- sh -c '
	for pid in $PPID $(pgrep -P $PPID); do
		[ $pid = $$ ] || { kill -0 $pid && echo may || echo may not; }
	done 2>/dev/null'
assert_eq "-u: the command cannot signal acltap, nor its guardian" "$(sort "$tmp/stdout" | uniq -c | xargs)" \
	"2 may not"
run_acltap record -u "no such user" -o "$tmp/u.csv" -- true
assert_eq "-u: no such user: usage error" "$status" 2
run_acltap record -u "$user" -o "$tmp/u.csv" -p $$
assert_eq "-u with -p: usage error" "$status" 2
cp "$ACLTAP" "$tmp/acltap"
setpriv --reuid "$uid" --regid "$gid" --clear-groups "$tmp/acltap" record -u root -o "$own/r.csv" -- \
	true 2>"$tmp/stderr"
assert_eq "-u when not root: refused" "$?" 125
assert_match "-u when not root: why" "$(cat "$tmp/stderr")" 'does not run as root'

# ---- sudo ----
export SUDO_UID=$uid SUDO_GID=$gid
mkdir "$tmp/sudo"
chown "$user" "$tmp/sudo"
run_acltap record -o "$tmp/sudo/run" -- sh -c 'id -u; id -ru; exec "$0" all 5' "$tmp/seed_loops"
assert_eq "sudo: status" "$status" 0
assert_eq "sudo: the command is root's" "$(xargs <"$tmp/stdout")" "0 0"
assert_eq "sudo: outputs belong to the user" "$(owners "$tmp/sudo/run")" "$uid:$gid"
# Root for root: all ids are the same, and are not looked at again when other threads have less.
for round in 1 2 3 4 5 6; do
	run_acltap record -f -u root -o "$tmp/roots.csv" -- true
	[ "$status" -eq 0 ] || break
	run_acltap stat -f -u root -o "$tmp/roots.txt" -- true
	[ "$status" -eq 0 ] || break
done
assert_eq "sudo: -u root (round $round)" "$status" 0
mkdir "$tmp/full"
if mount -t tmpfs -o size=64k,uid="$uid" none "$tmp/full" 2>/dev/null; then
	mounts+=("$tmp/full")
	run_acltap record -o "$tmp/full/x.ndjson" -- "$tmp/seed_loops" all 2000
	assert_eq "sudo, disk full: status" "$status" 125
	assert_eq "sudo, disk full: what is left belongs to the user" "$(owners "$tmp/full"/*)" "$uid:$gid"
fi
run_acltap export "$tmp/sudo/run" -o "$tmp/sudo/again.csv"
assert_eq "sudo: export too" "$status/$(owners "$tmp/sudo/again.csv")" "0/$uid:$gid"
mkdir "$tmp/roots"
run_acltap record -o "$tmp/roots/x.csv" -- true
assert_eq "sudo: where only root may write" "$status/$(owners "$tmp/roots/x.csv")" "0/0:0"
# What only root may write makes nothing else root's, and no link of the user's leads there.
mkdir -m 700 "$tmp/secret"
run_acltap record -o "$tmp/sudo/a.csv" -o "$tmp/secret/a.csv" -o "$tmp/secret/a.db" \
	-o "$tmp/sudo/a.ndjson" -- "$tmp/seed_loops" all 5
assert_eq "sudo: some of root's: status" "$status" 0
assert_eq "sudo: some of root's: root's" "$(owners "$tmp"/secret/a.*)" 0:0
assert_eq "sudo: some of root's: the user's" "$(owners "$tmp"/sudo/a.*)" "$uid:$gid"
assert_eq "sudo: some of root's: no capture is left" \
	"$(find "$tmp/sudo" "$tmp/secret" -name 'a.*.acltap*')" ""
run_acltap record -o "$tmp/secret/b.acltap" -o "$tmp/sudo/b.csv" -- "$tmp/seed_loops" all 5
assert_eq "sudo: root's capture" \
	"$status/$(owners "$tmp"/secret/b.*)/$(owners "$tmp"/sudo/b.*)/$(csv_rows "$tmp/sudo/b.csv")" \
	"0/0:0/$uid:$gid/15"
run_acltap record -o "$tmp/sudo/c.ndjson" -o "$tmp/secret/run" -- "$tmp/seed_loops" all 5
assert_eq "sudo: root's directory" "$status/$(owners "$tmp/secret/run")/$(owners "$tmp"/sudo/c.*)" \
	"0/0:0/$uid:$gid"
run_acltap record --last --max-size 4M -o "$tmp/secret/l.acltap" -o "$tmp/sudo/l.csv" -- \
	"$T/storm" 2 60000
assert_eq "sudo: root's capture of the last part" \
	"$status/$(owners "$tmp"/secret/l.*)/$(owners "$tmp"/sudo/l.*)" "0/0:0/$uid:$gid"
run_acltap record -o "$tmp/sudo/d.csv" -o "$tmp/secret/a.csv" -- true
assert_eq "sudo: root's file exists" "$status/$(grep -c 'a.csv.: File exists' "$tmp/stderr")" 125/1
before=$(find "$tmp/secret" | sort)
ln -s "$tmp/secret" "$tmp/sudo/link"
chown -h "$uid:$gid" "$tmp/sudo/link"
for outputs in "-o $tmp/sudo/link/e.csv" "-o $tmp/sudo/link/run2" \
	"-o $tmp/secret/f.csv -o $tmp/sudo/link/e.csv"; do
	# shellcheck disable=SC2086
	run_acltap record $outputs -- true
	assert_eq "sudo: ${outputs//$tmp\//}: refused" "$status" 125
	assert_match "sudo: ${outputs//$tmp\//}: why" "$(cat "$tmp/stderr")" 'symbolic links'
done
# Tables, too; and captures are read with the rights of whom they are written for.
run_acltap stat "$tmp/sudo/run" -o "$tmp/sudo/stat.csv" --format csv
assert_eq "sudo: stat -o" "$status/$(owners "$tmp/sudo/stat.csv")" "0/$uid:$gid"
run_acltap diff "$tmp/sudo/run" "$tmp/sudo/run" -o "$tmp/sudo/diff.csv" --format csv
assert_eq "sudo: diff -o" "$status/$(owners "$tmp/sudo/diff.csv")" "0/$uid:$gid"
run_acltap stat "$tmp/sudo/run" -o "$tmp/sudo/link/stat.csv"
assert_eq "sudo: stat -o through a link: refused" "$status" 1
assert_match "sudo: stat -o through a link: why" "$(cat "$tmp/stderr")" 'symbolic links'
for command in export stat; do
	run_acltap "$command" "$tmp/secret/run" -o "$tmp/sudo/of-secret.csv"
	assert_eq "sudo: $command of root's capture into a file of the user's" \
		"$status/$(grep -c 'with your own rights' "$tmp/stderr")" 1/1
	run_acltap "$command" "$tmp/secret/run" -o "$tmp/secret/$command.csv"
	assert_eq "sudo: $command of root's capture beside it" \
		"$status/$(owners "$tmp/secret/$command.csv")" 0/0:0
	rm -f "$tmp/secret/$command.csv"
done
assert_eq "sudo: nothing was written through the link" "$(find "$tmp/secret" | sort)" "$before"
unset SUDO_UID SUDO_GID

# ---- capabilities while tracing, and of the command ----
caps_of_tracer() {
	sed -n 's/^\(CapEff\|CapPrm\|CapBnd\):[[:space:]]*//p' "/proc/$tracer/status" | paste -sd ' '
}
start sleep 1000
start_tracer record --no-follow -o "$tmp/caps.csv" -p "$pid"
wait_for "$LIMIT" eval '[ "$(caps_of_tracer)" = "$RUNNING $RUNNING $RUNNING" ]'
assert_eq "while tracing: permitted, effective and bounding set" "$(caps_of_tracer)" \
	"$RUNNING $RUNNING $RUNNING"
kill -INT "$tracer"
reap "$tracer"
sleeper=$pid
start_tracer record -d 100ms -o "$tmp/end.csv" -- sleep 1000
wait_for "$LIMIT" grep -q 'opens with' "$tmp/stderr"
assert_eq "after tracing: permitted and effective set" "$(caps_of_tracer | cut -d ' ' -f 1,2)" \
	"0000000000000000 0000000000000000"
kill "$(sed -n 's/.*tracing PID \([0-9]*\):.*/\1/p' "$tmp/stderr")"
reap "$tracer"
assert_eq "after tracing: the command's status" "$status" 143
run_acltap record -o "$tmp/cmd.csv" -- grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status
assert_eq "the command keeps what acltap was started with" "$(cat "$tmp/stdout")" \
	"$(grep -E '^Cap(Prm|Eff|Bnd)' /proc/self/status)"

# ---- what another user's process maps, in a folder that only that user may enter ----
private=$own/private
mkdir "$private"
cp "$tmp"/jmp/*.so "$private" && chown -R "$uid:$gid" "$private" && chmod 700 "$private"
cp "$T/dlopen_late" "$tmp"
late() {	# name, command... that becomes that user
	local name=$1
	shift
	run_acltap record -f -o "$tmp/late.ndjson" -- "$@"
	assert_eq "$name: a library from a private folder: status" "$status" 0
	assert_eq "$name: a library from a private folder: events" \
		"$(grep -c '"kind"' "$tmp/late.ndjson")" 9
}
late "a user by setpriv" setpriv --reuid "$uid" --regid "$gid" --clear-groups \
	"$tmp/dlopen_late" 20 3 "$private/libmsprofiler.so"
if command -v su >/dev/null; then
	late "a child's user by su" su "$user" -s /bin/sh -c \
		"'$tmp/dlopen_late' 20 3 '$private/libmsprofiler.so'"
else
	skip_one "a child's user by su" "no su command"
fi

# A directory of another user's, as root: that takes one right more, and works.
run_acltap record -o "$own/roots.csv" -- "$tmp/seed_loops" all 3
assert_eq "root, into another user's directory" "$status/$(csv_rows "$own/roots.csv")" 0/9
# But no link that this user placed leads root's files elsewhere, before or while it records.
mkdir -p "$tmp/secret/under"
chmod 711 "$tmp/secret"
before=$(find "$tmp/secret" | sort)
ln -s "$tmp/secret" "$own/link" && chown -h "$uid:$gid" "$own/link"
for outputs in "-o $own/link/e.csv" "-o $own/link/run2" "-o $own/link/under" \
	"-o $own/plain.csv -o $own/link/e.acltap"; do
	# shellcheck disable=SC2086
	run_acltap record $outputs -- true
	assert_eq "root: ${outputs//$tmp\//}: refused" "$status" 125
	assert_match "root: ${outputs//$tmp\//}: why" "$(cat "$tmp/stderr")" 'symbolic links'
done
run_acltap stat "$tmp/sudo/run" -o "$own/link/stat.csv"
assert_eq "root: stat -o through such a link: refused" "$status" 1
as_user() { setpriv --reuid "$uid" --regid "$gid" --clear-groups "$@"; }
lead_to() {	# file, another: the user puts a link to the other in its place
	as_user mv "$1" "$1.moved" && as_user ln -s "$2" "$1"
}
mkdir "$tmp/later" && chown "$uid:$gid" "$tmp/later"
start_tracer record -o "$tmp/later" -p "$sleeper"
lead_to "$tmp/later/mindstudio_profiler_output" "$tmp/secret"
kill -INT "$tracer"
reap "$tracer"
assert_eq "root: a directory of the user's became a link while it recorded: status" "$status" 1
assert_match "root: a directory of the user's became a link while it recorded: why" \
	"$(cat "$tmp/stderr")" 'symbolic links'
assert_eq "root: nothing was written through the links" "$(find "$tmp/secret" | sort)" "$before"
# Nor is another capture read for root's through one.
run_acltap record -o "$tmp/secret/other.acltap" -- "$tmp/seed_loops" all 7
mkdir "$tmp/read" && chown "$uid:$gid" "$tmp/read"
start_tracer record -o "$tmp/read/x.acltap" -o "$tmp/read/x.csv" -p "$sleeper"
lead_to "$tmp/read/x.acltap" "$tmp/secret/other.acltap"
kill -INT "$tracer"
reap "$tracer"
assert_eq "root: the capture became a link: status" "$status" 1
check "root: the capture became a link: nothing of the other is told" test ! -e "$tmp/read/x.csv"

# ---- without rights: the message names what is missing ----
with_caps() {	# list for capsh, arguments of acltap
	local caps=$1
	shift
	capsh --drop="$(without "$caps")" -- -c '"$0" "$@"' "$tmp/acltap" "$@" \
		>"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}
without() {	# all capabilities but these
	local all=() i
	for i in $(seq 0 "$(cat /proc/sys/kernel/cap_last_cap)"); do
		all+=("$(capsh --explain="$i" 2>/dev/null | sed -n 's/.*\(cap_[a-z_]*\).*/\1/p' | head -n 1)")
	done
	printf '%s\n' "${all[@]}" | grep -vxE "${1// /|}" | paste -sd ,
}
if ! command -v capsh >/dev/null; then
	skip_one "the message for each missing capability" "no capsh command"
	finish
fi
with_caps none record -o "$tmp/c1.csv" -p "$sleeper"
assert_eq "no capability: status" "$status" 1
assert_match "no capability: named" "$(cat "$tmp/stderr")" 'missing CAP_BPF, CAP_PERFMON'
with_caps cap_bpf record -o "$tmp/c2.csv" -p "$sleeper"
assert_eq "CAP_BPF alone: status" "$status" 1
assert_match "CAP_BPF alone: named" "$(cat "$tmp/stderr")" 'missing CAP_PERFMON'
with_caps "cap_bpf cap_perfmon cap_sys_admin" record -d 100ms -o "$tmp/c4.csv" -p "$sleeper"
assert_eq "CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN: traces" "$status" 0
LD_LIBRARY_PATH=$private start_target setpriv --reuid "$uid" --regid "$gid" --clear-groups \
	"$tmp/seed_loops" all 5
with_caps "cap_bpf cap_perfmon cap_sys_admin cap_sys_ptrace" record -d 300ms -o "$tmp/c5.csv" \
	-p "$target"
assert_eq "a private library without CAP_DAC_READ_SEARCH: told once" \
	"$(grep -cE "PID $target: cannot look into '.*/private/.*': Permission denied" "$tmp/stderr")" 1
release
reap "$target"
assert_eq "a private library without CAP_DAC_READ_SEARCH: the target ends well" "$status" 0
with_caps "cap_bpf cap_perfmon" record -d 100ms -o "$tmp/c3.csv" -p "$sleeper"
if [ "$status" != 0 ]; then
	assert_match "CAP_BPF and CAP_PERFMON: named" "$(cat "$tmp/stderr")" 'missing CAP_SYS_ADMIN'
else
	ok "CAP_BPF and CAP_PERFMON: traces"
fi
finish
