// SPDX-License-Identifier: GPL-2.0-only
#include "live/bpfload.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/ktypes.h"
#include "events.skel.h"
#include "follow.skel.h"
#include "live/multi_link.h"
#include "util/cleanup.h"
#include "util/log.h"

struct bpf_variant {
	enum attach_prog prog;
	uint64_t cookie;
	struct events_bpf *ev;
};

#define INITIAL_PID_NS 0xEFFFFFFCu /* PROC_PID_INIT_INO, fixed by the kernel's ABI */

static int no_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void bpf_quiet(void)
{
	libbpf_set_print(no_print);
}

static void set_sleepable(struct bpf_program *prog)
{
	bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
}

/* In a container the programs have to count processes as acltap's /proc does. */
static void own_namespace(__u64 *dev, __u64 *ino)
{
	struct stat st;

	*dev = *ino = 0;
	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NS)
		return;
	*dev = st.st_dev;
	*ino = st.st_ino;
}

static __u32 max_procs(void)
{
	const char *text = getenv(BPF_MAX_PROCS);
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n < PROBE_MAX_PROCS ? (__u32)n : PROBE_MAX_PROCS;
}

static void configure(const struct bpf *b, struct events_bpf *ev)
{
	const struct bpf_config *cfg = &b->cfg;
	struct bpf_program *const progs[] = {ev->progs.entry, ev->progs.leave, ev->progs.loaded,
					     ev->progs.loaded_wait};
	__u64 ns_dev, ns_ino;

	bpf_map__set_max_entries(ev->maps.events, cfg->ring_size);
	bpf_map__set_max_entries(ev->maps.procs, b->max_procs);
	own_namespace(&ns_dev, &ns_ino);
	ev->rodata->ns_dev = ns_dev;
	ev->rodata->ns_ino = ns_ino;
	ev->rodata->no_cookies = !cfg->feat.cookie;
	ev->rodata->page_size = getpagesize();
	ev->rodata->may_signal = cfg->launch;
	ev->rodata->may_fault = cfg->may_fault && cfg->feat.sleepable;
	if (ev->rodata->may_fault)
		set_sleepable(ev->progs.entry);
	bpf_program__set_autoload(ev->progs.loaded, !b->waits);
	bpf_program__set_autoload(ev->progs.loaded_wait, b->waits);
	if (b->waits)
		set_sleepable(ev->progs.loaded_wait);
	for (size_t i = 0; b->multi && i < sizeof(progs) / sizeof(progs[0]); i++)
		bpf_program__set_expected_attach_type(progs[i], ATTACH_UPROBE_MULTI);
}

static int load_events(struct bpf *b)
{
	struct events_bpf *ev = events_bpf__open();
	int err;

	if (!ev)
		return log_err(-errno, "cannot open the BPF object");
	configure(b, ev);
	err = events_bpf__load(ev);
	if (err && b->waits) {
		/* Waiting needs bpf_loop() (5.17) and bpf_copy_from_user_task() (5.18). */
		events_bpf__destroy(ev);
		b->waits = false;
		return load_events(b);
	}
	b->events = ev;
	if (err) {
		log_err(err, "cannot load the BPF programs");
		log_hint("'acltap check' says what is missing");
	}
	return err;
}

/* The maps of an object become those of the first, by name. */
static int share_maps(struct bpf_object *obj, const struct events_bpf *ev)
{
	struct bpf_map *map, *owner;
	int err = 0;

	bpf_object__for_each_map(map, obj)
	{
		owner = bpf_object__find_map_by_name(ev->obj, bpf_map__name(map));
		if (!err && owner && !bpf_map__is_internal(map))
			err = bpf_map__reuse_fd(map, bpf_map__fd(owner));
	}
	return err;
}

int bpf_follow_types(void)
{
	struct follow_bpf *fo = follow_bpf__open();
	const void *own;
	__u32 sz;
	int fd = -EINVAL;

	own = fo ? btf__raw_data(bpf_object__btf(fo->obj), &sz) : NULL;
	if (own)
		fd = ktypes_open(own, sz);
	follow_bpf__destroy(fo);
	return fd;
}

/* For -n only. Without it processes that get another name are not found, which ends nothing. */
static void watch_names(struct follow_bpf *fo)
{
	fo->links.on_rename = bpf_program__attach(fo->progs.on_rename);
	if (!fo->links.on_rename)
		log_warn("processes that get another name are not seen: %s", strerror(errno));
}

/* types: negative: all of the kernel's. named: with what sees new names. */
static int load_with(struct bpf *b, int types, bool named)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct follow_bpf *fo;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	fo = follow_bpf__open_opts(&opts);
	if (!fo)
		return -errno;
	fo->rodata->ns_dev = b->events->rodata->ns_dev;
	fo->rodata->ns_ino = b->events->rodata->ns_ino;
	fo->rodata->follow = b->cfg.follow;
	fo->rodata->launch = b->cfg.launch;
	bpf_program__set_autoload(fo->progs.on_rename, named);
	bpf_program__set_autoattach(fo->progs.on_rename, false);
	err = share_maps(fo->obj, b->events);
	err = err ?: follow_bpf__load(fo);
	err = err ?: follow_bpf__attach(fo);
	if (err) {
		follow_bpf__destroy(fo);
		return err;
	}
	if (named)
		watch_names(fo);
	b->follow = fo;
	return 0;
}

static int load_follow(struct bpf *b, int types)
{
	int err = load_with(b, types, b->cfg.named);

	if (!err || !b->cfg.named || load_with(b, types, false))
		return err;
	log_warn("processes that get another name are not seen: %s", strerror(-err));
	return 0;
}

void bpf_follow(struct bpf *b, int types)
{
	int err;

	if (!b->cfg.feat.btf || !ktypes_there()) {
		log_warn("no kernel BTF: children of traced processes are found late, "
			 "and ends of threads are not seen");
		return;
	}
	err = types < 0 ? types : load_follow(b, types);
	if (err) {
		log_verbose("all types of the kernel are read: %s", strerror(-err));
		err = load_follow(b, -1);
	}
	if (err)
		log_warn("cannot follow processes: %s: children are found late", strerror(-err));
}

static int map_control(struct bpf *b)
{
	void *p = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(b->events->maps.control), 0);

	if (p == MAP_FAILED)
		return log_err(-errno, "cannot map the switches of the BPF programs");
	b->control = p;
	return 0;
}

int bpf_load(const struct bpf_config *cfg, struct bpf **out)
{
	struct bpf *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->cfg = *cfg;
	b->multi = cfg->feat.uprobe_multi && cfg->feat.cookie;
	b->waits = cfg->hold && cfg->feat.sleepable;
	b->max_procs = max_procs();
	err = load_events(b);
	err = err ?: map_control(b);
	if (err) {
		bpf_unload(b);
		return err;
	}
	b->ring_fd = bpf_map__fd(b->events->maps.events);
	b->procs_fd = bpf_map__fd(b->events->maps.procs);
	b->threads_fd = bpf_map__fd(b->events->maps.threads);
	b->counts_fd = bpf_map__fd(b->events->maps.counts);
	b->stops_fd = bpf_map__fd(b->events->maps.stops);
	b->known_exes_fd = bpf_map__fd(b->events->maps.known_exes);
	*out = b;
	return 0;
}

void bpf_unload(struct bpf *b)
{
	if (!b)
		return;
	if (b->control)
		munmap(b->control, getpagesize());
	follow_bpf__destroy(b->follow);
	for (size_t i = 0; i < b->n_variants; i++)
		events_bpf__destroy(b->variants[i].ev);
	free(b->variants);
	events_bpf__destroy(b->events);
	free(b);
}

static struct bpf_program *program_in(const struct bpf *b, struct events_bpf *ev,
				      enum attach_prog prog)
{
	return prog == ATTACH_ENTRY   ? ev->progs.entry
	       : prog == ATTACH_LEAVE ? ev->progs.leave
	       : b->waits	      ? ev->progs.loaded_wait
				      : ev->progs.loaded;
}

/* Loads one program of the object again, with the cookie as a constant, over the same maps. */
static int load_variant(const struct bpf *b, struct bpf_variant *v)
{
	struct bpf_program *p, *wanted;
	int err;

	v->ev = events_bpf__open();
	if (!v->ev)
		return -errno;
	configure(b, v->ev);
	v->ev->rodata->fixed_cookie = v->cookie;
	wanted = program_in(b, v->ev, v->prog);
	bpf_object__for_each_program(p, v->ev->obj) bpf_program__set_autoload(p, p == wanted);
	err = share_maps(v->ev->obj, b->events);
	err = err ?: events_bpf__load(v->ev);
	if (err)
		events_bpf__destroy(v->ev);
	return err;
}

int bpf_program_for(struct bpf *b, enum attach_prog prog, uint64_t cookie, struct bpf_program **out)
{
	struct bpf_variant *v;
	int err;

	if (b->cfg.feat.cookie) {
		*out = program_in(b, b->events, prog);
		return 0;
	}
	if (prog != ATTACH_LOADED) /* a program for each function, not for each file */
		cookie = COOKIE_SAME(cookie);
	for (v = b->variants; v < b->variants + b->n_variants; v++) {
		if (v->prog == prog && v->cookie == cookie) {
			*out = program_in(b, v->ev, prog);
			return 0;
		}
	}
	v = realloc(b->variants, (b->n_variants + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	b->variants = v;
	v += b->n_variants;
	*v = (struct bpf_variant){.prog = prog, .cookie = cookie};
	err = load_variant(b, v);
	if (err)
		return err;
	b->n_variants++;
	*out = program_in(b, v->ev, prog);
	return 0;
}

void bpf_gate(struct bpf *b, bool open)
{
	__atomic_store_n(&b->control->gate, open, __ATOMIC_SEQ_CST);
}

int bpf_trace_process(struct bpf *b, uint32_t tgid)
{
	struct proc_state state = {0};
	int err = bpf_map_update_elem(b->procs_fd, &tgid, &state, BPF_NOEXIST);

	return err && errno != EEXIST ? -errno : 0;
}

bool bpf_knows_process(const struct bpf *b, uint32_t tgid, struct proc_state *state)
{
	return !bpf_map_lookup_elem(b->procs_fd, &tgid, state);
}

void bpf_untrace_process(struct bpf *b, uint32_t tgid)
{
	bpf_map_delete_elem(b->procs_fd, &tgid);
	bpf_map_delete_elem(b->stops_fd, &tgid);
}

void bpf_ignore_process(struct bpf *b, uint32_t tgid)
{
	struct proc_state state = {.flags = PROC_IGNORED};

	bpf_map_update_elem(b->procs_fd, &tgid, &state, BPF_EXIST); /* it may have ended */
}

void bpf_forget_threads(struct bpf *b, uint32_t tgid)
{
	struct thread_state th;
	uint32_t key, next;
	bool more = !bpf_map_get_next_key(b->threads_fd, NULL, &key);

	while (more) {
		more = !bpf_map_get_next_key(b->threads_fd, &key, &next);
		if (!bpf_map_lookup_elem(b->threads_fd, &key, &th) && th.ids >> 32 == tgid)
			bpf_map_delete_elem(b->threads_fd, &key);
		key = next;
	}
}

void bpf_each_pid(int map_fd, void (*visit)(void *ctx, pid_t pid), void *ctx)
{
	uint32_t key, next, *prev = NULL;

	while (!bpf_map_get_next_key(map_fd, prev, &next)) {
		key = next;
		prev = &key;
		visit(ctx, (pid_t)key);
	}
}

static uint64_t skipped_runs(const struct bpf_program *p)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len) ? 0 : info.recursion_misses;
}

uint64_t bpf_skipped(const struct bpf *b)
{
	if (!b->follow)
		return 0;
	return skipped_runs(b->follow->progs.on_fork) + skipped_runs(b->follow->progs.on_exec) +
	       skipped_runs(b->follow->progs.on_exit);
}

int bpf_counts(const struct bpf *b, unsigned int func, struct func_count *out)
{
	int n = libbpf_num_possible_cpus();
	_free_ struct func_count *v = NULL;

	if (n < 0)
		return n;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (bpf_map_lookup_elem(b->counts_fd, &func, v))
		return -errno;
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < n; i++) {
		out->calls += v[i].calls;
		out->lost += v[i].lost;
		out->lost_returns += v[i].lost_returns;
	}
	return 0;
}
