// SPDX-License-Identifier: GPL-2.0-only
/* acltap list: which traced functions are where, and how they would be probed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "core/entry.h"
#include "discover/elfsym.h"
#include "discover/plan.h"
#include "discover/proc.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/rights.h"
#include "util/str.h"

struct list_opts {
	struct opt_pids pids;
	bool lifecycle, returns, all;
	int probe_site;
};

#define O(field) offsetof(struct list_opts, field)

static const struct opt_word probe_sites[] = {{"auto", 0}, {"entry", 1}, {NULL, 0}};

static const struct opt options[] = {
	{"pid", 'p', OPT_PIDS, O(pids), "PID", "what these processes map", NULL, NULL},
	{"probe-site", 0, OPT_WORD, O(probe_site), "WHERE", "auto (default) or entry", probe_sites,
	 NULL},
	{"lifecycle", 0, OPT_FLAG, O(lifecycle), NULL, "probe create and destroy too", NULL, NULL},
	{"returns", 0, OPT_FLAG, O(returns), NULL, "probe return values too", NULL, NULL},
	{"all", 0, OPT_FLAG, O(all), NULL, "count functions that make no event too", NULL, NULL},
};

/* One look at files: the plan of each goes into text. */
struct lister {
	struct plan_opts plan;
	struct elf_scan *scan;
	struct str *text;
	size_t files; /* with traced functions */
	pid_t pid;
	bool all;	   /* of all processes: what cannot be opened is only counted */
	size_t unopened;   /* mapped files that could not be opened */
	size_t unreadable; /* processes of which something could not be read */
};

static int list_fd(struct lister *l, int fd, const char *path)
{
	struct plan plan;
	int err = elfsym_scan(fd, l->scan);

	if (err)
		return err;
	if (!l->scan->n_found && !l->scan->has_mstx)
		return 0;
	l->files++;
	plan_make(&l->plan, l->scan, fd, &plan);
	plan_describe(&plan, l->scan, path, l->text);
	return 0;
}

static int list_mapped(void *ctx, const struct proc_file *pf)
{
	struct lister *l = ctx;
	size_t before = l->files;
	char safe[256];

	if (pf->fd < 0) {
		l->unopened++;
		if (l->all)
			return 0;
		log_warn("PID %d: cannot open '%s': %s", l->pid, pf->path, strerror(-pf->err));
		return 0;
	}
	list_fd(l, pf->fd, pf->path);
	if (l->files != before && pf->unprobeable)
		str_printf(l->text, "%s\tcannot be probed in PID %d: mapped %s\n",
			   log_safe(pf->path, strlen(pf->path), safe, sizeof(safe)), l->pid,
			   pf->unprobeable);
	return 0;
}

static int list_pid(struct lister *l, pid_t pid)
{
	size_t before = l->files;
	int err;

	l->pid = pid;
	l->unopened = 0;
	err = proc_scan_maps(pid, list_mapped, l);
	if (err)
		return log_err(err, "cannot read what PID %d maps", pid);
	if (l->files == before && l->unopened)
		log_info("PID %d maps no file with the traced functions that could be opened", pid);
	else if (l->files == before)
		log_info("PID %d maps no file with the traced functions", pid);
	return 0;
}

static int list_file(struct lister *l, const char *path)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t before = l->files;
	int err = fd < 0 ? -errno : list_fd(l, fd, path);

	if (err == -ENOEXEC)
		return log_fail(err, "cannot look in '%s': not an ELF file, or damaged", path);
	if (err == -ENOTSUP)
		return log_fail(err, "cannot look in '%s': 32-bit or of another processor", path);
	if (err)
		return log_err(err, "cannot look in '%s'", path);
	if (l->files == before)
		log_info("'%s' has none of the traced functions", path);
	return 0;
}

/* Without arguments: every process that maps such a library. */
static int list_process(void *ctx, pid_t pid)
{
	struct lister *all = ctx;
	_str_ struct str plans = {0};
	struct lister l = {
		.plan = all->plan, .scan = all->scan, .text = &plans, .pid = pid, .all = true};
	char cmdline[256], safe[256];
	ssize_t n;
	uid_t uid = 0;
	struct proc_rank rank;
	int err = proc_scan_maps(pid, list_mapped, &l);

	all->unreadable += err == -EACCES || err == -EPERM || (!err && l.unopened);
	if (err || !l.files)
		return 0;
	all->files += l.files;
	n = proc_cmdline(pid, cmdline, sizeof(cmdline));
	for (ssize_t i = 0; i < n; i++)
		if (!cmdline[i])
			cmdline[i] = ' ';
	proc_uid(pid, &uid);
	str_printf(all->text, "PID %d\tuser %u\t", pid, uid);
	if (!proc_rank(pid, &rank))
		str_printf(all->text, "%srank %d\t", rank.rank < 0 ? "local " : "",
			   rank.rank < 0 ? rank.local : rank.rank);
	str_printf(all->text, "%s\n", log_safe(cmdline, n > 0 ? (size_t)n : 0, safe, sizeof(safe)));
	return 0;
}

/* Who has all rights was refused for another reason. */
static void hint_at_rights(void)
{
	const uint64_t needed = RIGHT_BIT(RIGHT_SYS_PTRACE) | RIGHT_BIT(RIGHT_SYS_ADMIN);
	struct rights r;
	char missing[128];

	rights_read(&r);
	if (!*rights_missing(&r, needed, missing, sizeof(missing)))
		return;
	if (geteuid())
		log_hint("run as root, or with CAP_SYS_PTRACE and CAP_SYS_ADMIN");
	else
		log_hint("root lacks %s here", missing);
}

static void tell_unreadable(const struct lister *l)
{
	bool one = l->unreadable == 1;

	if (!l->files && !l->unreadable)
		log_info("no process maps a library with the traced functions");
	if (!l->unreadable)
		return;
	log_info("%s%zu process%s could not be read, or not all that %s",
		 l->files ? "" : "nothing found, but ", l->unreadable, one ? "" : "es",
		 one ? "it maps" : "they map");
	hint_at_rights();
}

static int list(const struct list_opts *o, char **files, int n_files)
{
	_str_ struct str text = {0};
	_free_ struct elf_scan *scan = malloc(sizeof(*scan));
	struct lister l = {.plan = {.all = o->all,
				    .lifecycle = o->lifecycle,
				    .returns = o->returns,
				    .force_entry = o->probe_site == 1},
			   .scan = scan,
			   .text = &text};
	int err = scan ? 0 : -ENOMEM;

	for (size_t i = 0; i < o->pids.n && !err; i++)
		err = list_pid(&l, o->pids.v[i]);
	for (int i = 0; i < n_files && !err; i++)
		err = list_file(&l, files[i]);
	if (!err && !o->pids.n && !n_files) {
		err = proc_for_each(list_process, &l);
		if (!err)
			tell_unreadable(&l);
	}
	if (text.err)
		return log_err(text.err, "cannot write the list");
	if (fputs(str_get(&text), stdout) < 0 || fflush(stdout))
		return log_err(-errno, "cannot write the list");
	return err;
}

static int run_list(int argc, char **argv)
{
	struct list_opts o = {0};
	struct opt_result res;
	int status = cmd_parse(&cmd_list, argc, argv, &o, &res);

	if (status < 0)
		status = list(&o, res.args, res.n_args) ? EXIT_FAILED : EXIT_OK;
	opt_pids_free(&o.pids);
	return status;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "show which traced functions are where, and how they are probed",
	.usage = "\n-p PID[,PID...]\nFILE...",
	.example = "acltap list -p 4242",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_MIXED,
	.run = run_list,
};
