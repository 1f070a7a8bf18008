/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every map, with who writes and who reads it. Both BPF objects share them.
 *
 * A rule for the probes (events.bpf.c): at most 48 bytes of stack a function, which
 * tests/live/test_bpf_stack.sh checks. Linux 6.13 and later can give a tracing program with more
 * one stack per CPU for all its runs; these programs sleep and are preempted, so a run would find
 * another's values there (seen on 6.18). What they need is in struct thread_state.
 */
#ifndef ACLTAP_MAPS_BPF_H
#define ACLTAP_MAPS_BPF_H

#include "probe_config.h"
#include "wire.h"

/* Records to user space. Resized before load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

/* tgid -> what is traced. User space and fork insert, exit removes; all programs read. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_PROCS);
	__type(key, __u32);
	__type(value, struct proc_state);
} procs SEC(".maps");

/* thread_key() -> push depth and sequence. The thread's own probes write, exit removes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct thread_state);
} threads SEC(".maps");

/* All zero: what a new thread begins with. Nobody writes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_state);
} fresh_thread SEC(".maps");

/* func -> counters. The programs add, user space reads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROBE_FUNCS);
	__type(key, __u32);
	__type(value, struct func_count);
} counts SEC(".maps");

/* The switches. User space writes through mmap, so that the guardian can as well. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
} control SEC(".maps");

/* tgid -> enum stop_state, launch mode only. Programs, user space and the guardian. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_PROCS);
	__type(key, __u32);
	__type(value, __u32);
} stops SEC(".maps");

/* Program files that need no stop at exec. User space inserts, exec reads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct exe_key);
	__type(value, __u32);
} known_exes SEC(".maps");

#endif
