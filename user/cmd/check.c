// SPDX-License-Identifier: GPL-2.0-only
/* acltap check: can this machine trace, and if not, what to do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "discover/site.h"
#include "live/features.h"
#include "util/log.h"
#include "util/rights.h"

struct feature_row {
	enum feature feature;
	const char *label;
	const char *without; /* what to do, or what is lost, where rights are not the reason */
	uint64_t need;
};

#define ADMIN RIGHT_BIT(RIGHT_SYS_ADMIN)

static const struct feature_row required[] = {
	{FEATURE_BPF, "BPF system call", "needs a kernel with CONFIG_BPF_SYSCALL", RIGHTS_TRACE},
	{FEATURE_RINGBUF, "BPF ring buffer (5.8)", "needs kernel 5.8 or newer", RIGHTS_TRACE},
	{FEATURE_UPROBE, "uprobe programs", "needs a kernel with CONFIG_BPF_EVENTS", RIGHTS_TRACE},
};

static const struct feature_row either[] = {
	{FEATURE_UPROBE_MULTI, "uprobe_multi links (6.6)",
	 "needs kernel 6.6; perf uprobes serve as well, but detach slowly", RIGHTS_TRACE},
	{FEATURE_PERF_UPROBE, "perf uprobes", "needs a kernel with CONFIG_UPROBE_EVENTS",
	 RIGHTS_TRACE | ADMIN},
};

static const struct feature_row better[] = {
	{FEATURE_COOKIE, "attach cookies (5.15)",
	 "each probed function has a program of its own: attaching takes longer", RIGHTS_TRACE},
	{FEATURE_RAW_TP, "raw tracepoints of fork, exec and exit",
	 "children are found late without them", RIGHTS_TRACE},
	{FEATURE_BTF, "kernel type information (BTF)",
	 "children are found late without it; needs CONFIG_DEBUG_INFO_BTF", 0},
	{FEATURE_SAFE_RETURN, "return probes in programs with a seccomp filter",
	 "this kernel would kill them (Linux 6.11 to 6.13, fixed in 6.14 and in stable updates): "
	 "start/end ranges are not traced",
	 RIGHTS_TRACE},
	{FEATURE_SLEEPABLE, "sleepable uprobe programs (6.0)",
	 "names in memory that was never touched are unreadable before kernel 6.0", RIGHTS_TRACE},
	{FEATURE_COPY_FROM_USER, "bpf_copy_from_user()",
	 "names in memory that was never touched are unreadable", RIGHTS_TRACE},
	{FEATURE_SEND_SIGNAL, "bpf_send_signal()",
	 "the first calls after a late dlopen() can be missed", RIGHTS_TRACE},
};

static const struct {
	enum right right;
	const char *label;
	const char *without;
} rights_rows[] = {
	{RIGHT_BPF, "CAP_BPF",
	 "needed to load programs: run as root, in a container with --cap-add"},
	{RIGHT_PERFMON, "CAP_PERFMON",
	 "needed to attach programs: run as root, in a container with --cap-add"},
	{RIGHT_SYS_ADMIN, "CAP_SYS_ADMIN",
	 "needed for perf uprobes, and for libraries that were deleted or replaced"},
	{RIGHT_SYS_PTRACE, "CAP_SYS_PTRACE",
	 "needed for other users' processes and for containers"},
	{RIGHT_KILL, "CAP_KILL", "needed to hold other users' programs while they load a library"},
};

#define N(rows) (sizeof(rows) / sizeof((rows)[0]))

/* One line, and what to do below it where the answer is no. */
static void answer(bool yes, const char *label, const char *todo)
{
	printf("  %s  %s\n", yes ? "yes" : "no ", label);
	if (!yes && *todo)
		printf("       -> %s\n", todo);
}

static void print_features(const struct feature_row *rows, size_t n, const struct features *f,
			   const struct rights *r)
{
	for (const struct feature_row *row = rows; row < rows + n; row++) {
		int err = f->err[row->feature];
		char label[160], todo[256], why[LOG_ERROR_MAX];

		rights_explain(r, row->need, err, todo, sizeof(todo));
		if (err)
			snprintf(label, sizeof(label), "%s: %s", row->label,
				 log_error_text(err, why));
		else
			snprintf(label, sizeof(label), "%s", row->label);
		answer(!err, label, *todo ? todo : row->without);
	}
}

static void print_rights(const struct rights *r)
{
	printf("\nRights\n");
	for (size_t i = 0; i < N(rights_rows); i++)
		answer(rights_has(r, rights_rows[i].right), rights_rows[i].label,
		       rights_rows[i].without);
	answer(!r->user_ns, "initial user namespace",
	       "capabilities count only inside this one: run on the host");
	answer(!r->seccomp, "no seccomp filter",
	       "it may refuse bpf() and perf_event_open(): a container needs "
	       "--security-opt seccomp=unconfined");
}

static void print_lockdown(const struct rights *r)
{
	static const char *const names[] = {"not in use", "none", "integrity", "confidentiality"};
	char label[80];

	snprintf(label, sizeof(label), "kernel lockdown permits tracing (%s)", names[r->lockdown]);
	answer(r->lockdown != LOCKDOWN_CONFIDENTIALITY, label,
	       "boot with lockdown=integrity or none");
}

static void print_machine(const struct rights *r)
{
	char label[256];

	printf("\nMachine\n");
	print_lockdown(r);
	snprintf(label, sizeof(label), "SELinux does not enforce (security modules: %.127s)",
		 *r->lsm ? r->lsm : "unknown");
	answer(!r->selinux, label,
	       "if it refuses bpf or perf_event: see 'ausearch -m avc -ts recent'");
	snprintf(label, sizeof(label), "kernel.perf_event_paranoid is %d", r->perf_paranoid);
	if (r->perf_paranoid > -2)
		answer(r->perf_paranoid <= 2 || rights_has(r, RIGHT_PERFMON), label,
		       "above 2 nothing can be probed without CAP_PERFMON");
	snprintf(label, sizeof(label), "kernel.unprivileged_bpf_disabled is %d", r->unpriv_bpf);
	if (r->unpriv_bpf >= 0)
		answer(!r->unpriv_bpf || rights_has(r, RIGHT_BPF), label,
		       "without CAP_BPF nothing can be loaded");
	answer(!r->memlock, "no limit of locked memory holds for BPF",
	       "before 5.11 it does: CAP_SYS_RESOURCE, or 'ulimit -l unlimited' before");
	answer(!r->pid_ns, "initial PID namespace",
	       "process ids are those of this container; processes outside are not seen");
	answer(site_can_plan(), "Capstone: cheap probe sites",
	       "every probe sits at the function's entry, which can cost much more: install "
	       "libcapstone, and libcapstone-dev for building");
}

static void print_kernel(void)
{
	struct utsname u;
	unsigned int major = 0, minor = 0;
	char label[160];

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		snprintf(label, sizeof(label), "kernel of unknown version");
	else
		snprintf(label, sizeof(label), "kernel %.64s on %.64s", u.release, u.machine);
	answer(major > 5 || (major == 5 && minor >= 8), label, "needs kernel 5.8 or newer");
}

static void print_all(const struct features *f, const struct rights *r)
{
	printf("Needed\n");
	print_kernel();
	print_features(required, N(required), f, r);
	printf("\nOne of the two\n");
	print_features(either, N(either), f, r);
	printf("\nBetter with\n");
	print_features(better, N(better), f, r);
	print_rights(r);
	print_machine(r);
}

static int run_check(int argc, char **argv)
{
	struct opt_result res;
	struct features f;
	struct rights r;
	int status = cmd_parse(&cmd_check, argc, argv, NULL, &res);

	if (status >= 0)
		return status;
	if (res.n_args)
		return cmd_usage_error(&cmd_check, "unexpected argument '%s'", res.args[0]);
	signal(SIGCHLD, SIG_DFL); /* what is tried in children is waited for */
	features_probe(&f);
	rights_read(&r);
	print_all(&f, &r);
	printf("\n%s\n",
	       features_can_trace(&f) ? "Tracing is possible." : "Tracing is not possible.");
	return features_can_trace(&f) ? EXIT_OK : EXIT_FAILED;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "say whether this machine can trace, and what to do if not",
	.usage = "",
	.example = "acltap check",
	.mode = OPT_MIXED,
	.run = run_check,
};
