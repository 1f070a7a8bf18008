// SPDX-License-Identifier: GPL-2.0-only
#include "live/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/entry.h"
#include "live/ahead.h"
#include "live/attach.h"
#include "live/bpfload.h"
#include "live/facts.h"
#include "live/features.h"
#include "live/files.h"
#include "live/guardian.h"
#include "live/launch.h"
#include "live/procs.h"
#include "live/prelook.h"
#include "live/ring.h"
#include "live/status.h"
#include "live/try_return.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/nofile.h"
#include "util/readall.h"
#include "util/str.h"

#define MS 1000000ull
/* The ring is emptied this often: its default size lasts 100 ms at 1.5 million calls a second. */
#define TICK_NS (10 * MS)
/* While nothing comes: what a burst fills in that time, 60,000 records, is half of that size. */
#define IDLE_TICK_NS (40 * MS)
#define IDLE_AFTER_NS (200 * MS)
#define IDLE_RING_MIN (8u << 20)
#define CHECK_EVERY (1000 * MS)
/* Who is held and not told of by a record: rare, and asking costs some system calls a process. */
#define CONTINUE_EVERY (50 * MS)

enum session_state { STANDBY, RUNNING, ENDED };

struct session {
	struct session_config cfg;
	struct bpf *bpf;
	struct attach *attach;
	struct files *files;
	struct procs *procs;
	struct ring *ring;
	struct recorder *recorder;
	struct guardian guardian;
	struct launch launch;
	enum session_state state;
	enum session_end end;
	int signal; /* that stopped tracing, 0 = none */
	int exec_err;
	bool cmd_ended;
	int cmd_status; /* of waitpid() */
	uint64_t opened, checked, continued;
	uint64_t busy;	  /* when a record came */
	uint64_t tick_ns; /* in force */
	struct status status;
	int epoll, timer, children;
	struct launch_inherited inherited;
};

static void on_life(void *ctx, const struct wire *w, const char *msg)
{
	struct session *s = ctx;

	procs_life(s->procs, w, msg);
}

static void on_call(void *ctx, const struct wire *w)
{
	struct session *s = ctx;

	procs_call(s->procs, w);
}

static bool wants(void *ctx, const struct wire *w)
{
	struct session *s = ctx;

	return procs_wants(s->procs, w);
}

/* Whoever taps the records knows better what failed. */
static int tell(const struct session *s, int err)
{
	return err && s->cfg.capture ? log_err(err, "cannot write the capture") : err;
}

/* ---- opening ---- */

/* Probes are in all processes that map the library, in those of containers with a filter too. */
static void avoid_deadly_returns(struct session *s, struct features *f)
{
	if (!try_return_is_needed() && !features_denied(FEATURE_SAFE_RETURN))
		return;
	if (features_probe_one(f, FEATURE_SAFE_RETURN) == 0)
		return;
	s->cfg.plan.no_returns = true;
	log_warn("this kernel kills programs with a seccomp filter at return probes: not used");
	log_hint("start/end ranges have no ends then; a kernel update (6.12.y, 6.14) mends it");
}

static void tell_shifted_clock(void)
{
	char text[256];
	long long s, ns;

	if (readall_text("/proc/self/timens_offsets", text, sizeof(text)) <= 0 ||
	    sscanf(text, "monotonic %lld %lld", &s, &ns) != 2 || (!s && !ns))
		return;
	log_warn("this time namespace shifts the clock by %lld s: times are wrong", s);
	log_hint("run acltap outside of it");
}

static int load(struct session *s)
{
	struct bpf_config cfg = {.ring_size = s->cfg.ring_size,
				 .follow = s->cfg.follow,
				 .named = s->cfg.join == JOIN_NAMED,
				 .launch = s->cfg.argv && !s->cfg.no_stop,
				 .hold = !s->cfg.no_stop,
				 /* Who joins by himself could lend a page that never comes. */
				 .may_fault = !s->cfg.join};
	/* Loading will tell: parsing the kernel's types takes longer than all the rest. */
	struct ahead ahead = {.types = !features_denied(FEATURE_BTF)};
	_fd_ int types = -1;
	int err;

	bpf_quiet();
	tell_shifted_clock();
	cfg.feat.btf = ahead.types;
	features_probe_one(&cfg.feat, FEATURE_UPROBE_MULTI);
	features_probe_one(&cfg.feat, FEATURE_COOKIE);
	features_probe_one(&cfg.feat, FEATURE_SLEEPABLE);
	avoid_deadly_returns(s, &cfg.feat);
	ahead_start(&ahead);
	err = bpf_load(&cfg, &s->bpf);
	types = ahead_finish(&ahead);
	if (err)
		return err;
	bpf_follow(s->bpf, types);
	err = ring_open(s->bpf->ring_fd, s->cfg.ring_size, &s->ring);
	if (err)
		return log_err(err, "cannot map the ring buffer");
	return 0;
}

/* Without records of forks a child joins when it loads or calls something. */
static enum procs_join how_to_join(const struct session *s)
{
	bool children = !s->cfg.join && s->cfg.follow && !s->bpf->follow;

	return children ? JOIN_CHILDREN : s->cfg.join;
}

/* Others than a command of ours are only held where a probe can, never by a signal. */
static bool may_stop(const struct session *s)
{
	return !s->cfg.no_stop && (s->cfg.argv || s->bpf->waits);
}

static int make_parts(struct session *s)
{
	struct files_config fc = {.plan = s->cfg.plan};
	struct procs_config pc = {.bpf = s->bpf,
				  .join = how_to_join(s),
				  .names = s->cfg.names,
				  .n_names = s->cfg.n_names,
				  .follow = s->cfg.follow,
				  .launched = s->cfg.argv,
				  .may_stop = may_stop(s)};
	struct recorder_config rc = {.bpf = s->bpf,
				     .ring = s->ring,
				     .capture = s->cfg.capture,
				     .tap = s->cfg.tap,
				     .tap_ctx = s->cfg.tap_ctx,
				     .ctx = s,
				     .life = on_life,
				     .wants = pc.join ? wants : NULL,
				     .call = on_call};
	int err = attach_new(s->bpf, &s->attach);

	fc.attach = s->attach;
	err = err ?: files_new(&fc, &s->files);
	pc.files = s->files;
	err = err ?: procs_new(&pc, &s->procs);
	err = err ?: recorder_new(&rc, &s->recorder);
	if (err)
		return log_err(err, "cannot prepare the recording");
	procs_set_recorder(s->procs, s->recorder);
	if (pc.join == JOIN_CHILDREN)
		procs_start_joining(s->procs);
	return 0;
}

static int start_capture(struct session *s)
{
	int err = recorder_clock(s->recorder);

	err = err ?: facts_write_capture(s->recorder);
	if (!err && s->cfg.plan.lifecycle)
		err = recorder_fact(s->recorder, 0, 0, FACT_OPTION, "lifecycle=1", 11);
	if (!err && s->cfg.plan.returns)
		err = recorder_fact(s->recorder, 0, 0, FACT_OPTION, "returns=1", 9);
	return tell(s, err);
}

static int open_libs(struct session *s)
{
	for (size_t i = 0; i < s->cfg.n_libs; i++) {
		int err = files_look_path(s->files, s->cfg.libs[i]);

		if (err)
			return err;
	}
	return 0;
}

static int open_launch(struct session *s)
{
	int err;

	if (!s->cfg.no_stop) {
		err = guardian_start(s->bpf, &s->guardian);
		if (err)
			return log_err(err, "cannot start the guardian process");
	}
	err = launch_hold(s->cfg.exe, s->cfg.argv, &s->inherited, s->cfg.user, &s->launch);
	if (err)
		return log_err(err, "cannot start '%s'", s->cfg.argv[0]);
	err = procs_add_held(s->procs, s->launch.pid);
	if (err)
		return err;
	prelook(s->files, s->procs, s->cfg.exe);
	return 0;
}

static int open_running(struct session *s)
{
	size_t unreadable;
	int err = procs_attach_running(s->procs, &unreadable);

	if (err)
		return log_err(err, "cannot list the processes");
	if (unreadable)
		log_warn("cannot look into %zu processes: permission denied", unreadable);
	if (!s->bpf->follow)
		log_hint("new programs are seen when their loader is, or when they call");
	return 0;
}

static int open_targets(struct session *s)
{
	if (s->cfg.join)
		return open_running(s);
	for (size_t i = 0; i < s->cfg.n_pids; i++) {
		int err = procs_attach(s->procs, s->cfg.pids[i]);

		if (err)
			return err;
	}
	return 0;
}

static int add_fd(struct session *s, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static void set_tick(struct session *s, uint64_t ns)
{
	const struct timespec t = {.tv_nsec = (long)ns};
	const struct itimerspec tick = {t, t};

	if (s->tick_ns != ns && !timerfd_settime(s->timer, 0, &tick, NULL))
		s->tick_ns = ns;
}

/* Ticks are what an idle acltap costs; a time limit is kept exactly. */
static void adapt_tick(struct session *s, uint64_t now)
{
	bool may = s->cfg.ring_size >= IDLE_RING_MIN && !s->cfg.duration_ns && !s->cfg.delay_ns;

	set_tick(s, may && now - s->busy > IDLE_AFTER_NS ? IDLE_TICK_NS : TICK_NS);
}

static int open_loop(struct session *s)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, &s->inherited.mask);
	if (s->cfg.signals_mask)
		s->inherited.mask = *s->cfg.signals_mask;
	s->children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->children < 0 || s->timer < 0 || s->epoll < 0)
		return log_err(-errno, "cannot set up the event loop");
	set_tick(s, TICK_NS);
	err = add_fd(s, s->children);
	if (s->cfg.signals_fd >= 0)
		err = err ?: add_fd(s, s->cfg.signals_fd);
	err = err ?: add_fd(s, s->timer);
	err = err ?: add_fd(s, s->bpf->ring_fd);
	return err ? log_err(err, "cannot set up the event loop") : 0;
}

/* Every probed file takes some descriptors, and children are waited for. */
static void prepare_process(struct session *s)
{
	const struct sigaction normal = {.sa_handler = SIG_DFL};

	nofile_raise(&s->inherited.files);
	sigaction(SIGCHLD, &normal, &s->inherited.child);
}

int session_open(const struct session_config *cfg, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return log_err(-ENOMEM, "cannot prepare the recording");
	s->cfg = *cfg;
	s->epoll = s->timer = s->children = -1;
	prepare_process(s);
	err = load(s);
	err = err ?: make_parts(s);
	err = err ?: open_loop(s);
	err = err ?: start_capture(s);
	err = err ?: open_libs(s);
	if (!err)
		err = cfg->argv ? open_launch(s) : open_targets(s);
	if (err) {
		session_free(s);
		return err;
	}
	*out = s;
	return 0;
}

/* ---- running ---- */

static void end(struct session *s, enum session_end why)
{
	if (s->state == ENDED)
		return;
	s->state = ENDED;
	s->end = why;
}

static void reap_command(struct session *s)
{
	if (s->launch.pid > 0 && !s->cmd_ended &&
	    waitpid(s->launch.pid, &s->cmd_status, WNOHANG) == s->launch.pid)
		s->cmd_ended = true;
}

static void on_child(struct session *s)
{
	struct signalfd_siginfo si;

	while (read(s->children, &si, sizeof(si)) == sizeof(si))
		reap_command(s);
}

static void on_signal(struct session *s)
{
	unsigned char signal;

	if (read(s->cfg.signals_fd, &signal, 1) == 1) {
		s->signal = signal;
		end(s, SESSION_SIGNAL);
	}
}

static bool targets_gone(struct session *s)
{
	if (s->cfg.join)
		return false; /* more may come */
	if (s->cfg.argv)
		return s->cmd_ended && (!s->cfg.wait || !procs_left(s->procs));
	return !procs_left(s->procs);
}

static int on_tick(struct session *s)
{
	uint64_t now = clock_mono_ns();
	uint64_t ticks;
	int err = recorder_tick(s->recorder);

	if (read(s->timer, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
		return -errno;
	if (s->state == STANDBY && now - s->opened >= s->cfg.delay_ns) {
		bpf_gate(s->bpf, true);
		s->state = RUNNING;
	}
	if (s->cfg.duration_ns && now - s->opened >= s->cfg.delay_ns + s->cfg.duration_ns)
		end(s, SESSION_TIME_UP);
	adapt_tick(s, now);
	if (s->cfg.max_size && capwrite_bytes(s->cfg.capture) >= s->cfg.max_size) {
		log_info("the capture has its largest size: recording ends");
		end(s, SESSION_FULL);
	}
	if (now - s->continued >= CONTINUE_EVERY) {
		procs_continue_stopped(s->procs);
		s->continued = now;
	}
	if (now - s->checked >= CHECK_EVERY) {
		procs_check_alive(s->procs);
		s->checked = now;
	}
	if (!s->cfg.no_status) {
		struct recorder_stats st = recorder_stats(s->recorder);

		status_show(&s->status, &st, s->cfg.capture, now);
	}
	return err;
}

static int step(struct session *s)
{
	struct epoll_event ev[8];
	int n = epoll_wait(s->epoll, ev, 8, -1);
	int err = 0;
	long got;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	got = recorder_drain(s->recorder);
	if (got < 0)
		return (int)got;
	if (got) {
		s->busy = clock_mono_ns();
		set_tick(s, TICK_NS);
	}
	for (int i = 0; i < n && !err; i++) {
		if (ev[i].data.fd == s->children)
			on_child(s);
		else if (ev[i].data.fd == s->cfg.signals_fd)
			on_signal(s);
		else if (ev[i].data.fd == s->timer)
			err = on_tick(s);
	}
	if (!recorder_is_behind(s->recorder) && targets_gone(s)) /* it may tell of children */
		end(s, SESSION_TARGETS_GONE);
	return err;
}

static void announce(const struct session *s)
{
	if (s->cfg.argv)
		log_info("tracing PID %d: %s", s->launch.pid, s->cfg.argv[0]);
	else if (s->cfg.join == JOIN_ALL)
		log_info("tracing every process that uses the API; Ctrl-C ends");
	else if (s->cfg.join)
		log_info("tracing processes with that name, %zu so far; Ctrl-C ends",
			 procs_left(s->procs));
	else if (s->cfg.n_pids == 1)
		log_info("tracing PID %d; Ctrl-C ends", s->cfg.pids[0]);
	else
		log_info("tracing %zu processes; Ctrl-C ends", s->cfg.n_pids);
}

int session_run(struct session *s)
{
	int err = 0;

	s->opened = s->status.shown_ns = s->checked = s->busy = clock_mono_ns();
	s->state = s->cfg.delay_ns ? STANDBY : RUNNING;
	bpf_gate(s->bpf, s->state == RUNNING);
	announce(s);
	s->bpf->control->may_stop = may_stop(s);
	if (s->cfg.argv) {
		s->exec_err = launch_release(&s->launch);
		if (s->exec_err)
			return s->exec_err;
	}
	while (s->state != ENDED && !err)
		err = step(s);
	log_status(" ");
	return tell(s, err);
}

/* ---- stopping ---- */

/* What the maps had no room for. */
static void tell_crowded(const struct bpf *bpf)
{
	if (bpf->control->no_room)
		log_warn("%u calls of processes beyond %u were not recorded", bpf->control->no_room,
			 bpf->max_procs);
	if (bpf->control->unfollowed)
		log_warn("%u children of traced processes beyond %u were not traced",
			 bpf->control->unfollowed, bpf->max_procs);
	if (bpf->control->stateless)
		log_warn("%u calls of threads beyond %d at the same time: their ranges are "
			 "uncertain and their messages unreadable",
			 bpf->control->stateless, PROBE_MAX_THREADS);
}

static void tell_unlooked(unsigned int n)
{
	if (n)
		log_warn("%u process%s of that name ended before %s looked at: calls may not be "
			 "seen",
			 n, n == 1 ? "" : "es", n == 1 ? "it was" : "they were");
}

int session_stop(struct session *s)
{
	char left[256];
	int err;

	bpf_gate(s->bpf, false);
	procs_stop_stopping(s->procs);
	err = recorder_finish(s->recorder);
	procs_stop_stopping(s->procs); /* a program that saw the switch open may have been late */
	if (s->bpf->control->hurried)
		log_warn("%u programs were not waited for: if they loaded the library from a new "
			 "place, calls may not be seen",
			 s->bpf->control->hurried);
	if (procs_ended_early(s->procs))
		log_warn("%u processes ended before what they loaded last was looked at: if it was "
			 "another copy of the library, its calls were not seen",
			 procs_ended_early(s->procs));
	if (procs_untold(s->procs))
		log_warn(
			"%u times a process loaded something and was not waited for: if it was the "
			"library, calls may not be seen",
			procs_untold(s->procs));
	if (s->bpf->control->released)
		log_warn("%u stopped processes had to go on before they were looked at: acltap was "
			 "blocked; calls may not be seen",
			 s->bpf->control->released);
	if (bpf_skipped(s->bpf))
		log_info("the kernel left out %" PRIu64
			 " forks, execs or ends of processes, of all on "
			 "this machine: a traced one may be among them",
			 bpf_skipped(s->bpf));
	tell_crowded(s->bpf);
	if (procs_unproven(s->procs))
		log_warn("%u processes ended before it was known whether they %s: they are not "
			 "recorded",
			 procs_unproven(s->procs), s->cfg.join ? "have that name" : "are children");
	tell_unlooked(procs_unlooked(s->procs));
	procs_check_alive(s->procs);
	if (s->cfg.argv && s->end == SESSION_TARGETS_GONE && procs_left(s->procs)) {
		procs_names(s->procs, s->launch.pid, left, sizeof(left));
		if (*left)
			log_info("still running: PID %s; their open ranges are marked open", left);
	}
	return tell(s, err);
}

pid_t session_command(const struct session *s)
{
	return s->cmd_ended ? 0 : s->launch.pid;
}

enum session_end session_ended(const struct session *s)
{
	return s->end;
}

bool session_missed(const struct session *s)
{
	return procs_missed(s->procs);
}

int session_exec_error(const struct session *s)
{
	return s->exec_err;
}

struct recorder_stats session_stats(const struct session *s)
{
	return recorder_stats(s->recorder);
}

bool session_saw_library(const struct session *s)
{
	return procs_any_settled(s->procs);
}

int session_set_capture(struct session *s, struct capwrite *capture)
{
	s->cfg.capture = capture;
	return recorder_set_capture(s->recorder, capture);
}

int session_describe(struct session *s, struct str *text)
{
	return files_describe(s->files, text);
}

int session_wait_command(struct session *s)
{
	if (s->end == SESSION_SIGNAL && !s->cmd_ended)
		kill(s->launch.pid, s->signal);
	while (!s->cmd_ended) {
		if (waitpid(s->launch.pid, &s->cmd_status, 0) == s->launch.pid)
			s->cmd_ended = true;
		else if (errno != EINTR)
			break;
	}
	s->launch.pid = 0;
	return launch_exit_status(s->cmd_status);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (s->bpf)
		s->bpf->control->may_stop = 0;
	if (s->launch.pid > 0 && s->state == STANDBY && !s->opened)
		launch_cancel(&s->launch);
	if (s->attach && !s->bpf->multi && attach_links(s->attach) > 1)
		log_verbose("the kernel goes on removing %zu probes for some %zu ms",
			    attach_links(s->attach), attach_links(s->attach) * 110);
	if (s->procs)
		procs_stop_stopping(s->procs);
	attach_free(s->attach);
	guardian_dismiss(&s->guardian);
	recorder_free(s->recorder);
	procs_free(s->procs);
	files_free(s->files);
	ring_close(s->ring);
	bpf_unload(s->bpf);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->timer >= 0)
		close(s->timer);
	if (s->children >= 0)
		close(s->children);
	free(s);
}
