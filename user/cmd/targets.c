// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/targets.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/giveup.h"
#include "cmd/owner.h"
#include "discover/libpath.h"
#include "discover/proc.h"
#include "util/log.h"
#include "util/rights.h"

#define MIB (1ull << 20)

const struct opt_word targets_probe_sites[] = {{"auto", 0}, {"entry", 1}, {NULL, 0}};

void targets_init(struct targets *t)
{
	*t = (struct targets){.ring_size = 16 * MIB};
}

bool targets_named(const struct targets *t)
{
	return t->pids.n || t->names.n || t->everyone;
}

static int check_options(const struct targets *t, const struct command *c)
{
	if (!t->argv && !targets_named(t))
		return cmd_usage_error(c, "nothing to trace: give -p PID, -n GLOB, -a or -- CMD");
	if (!!t->argv + !!t->pids.n + !!t->names.n + t->everyone > 1)
		return cmd_usage_error(c, "-p, -n, -a and a command exclude each other");
	if (t->everyone && t->no_follow)
		return cmd_usage_error(c, "-a is every process, also with --no-follow");
	if (t->ring_size < 4096 || t->ring_size > 1024 * MIB || (t->ring_size & (t->ring_size - 1)))
		return cmd_usage_error(c, "--ring-size must be a power of two from 4K to 1G");
	if (t->wait && !t->argv)
		return cmd_usage_error(c, "--wait needs a command");
	if (t->user_name && !t->argv)
		return cmd_usage_error(c, "-u needs a command");
	return -1;
}

/* The user of -u, and the variables of the environment that say who one is; the others stay. */
static int find_user(struct targets *t, const struct command *cmd)
{
	int err = privs_find_user(t->user_name, &t->user);

	if (err == -ENOENT)
		return cmd_usage_error(cmd, "-u: there is no user '%s'", t->user_name);
	if (!err && privs_own_uid()) {
		log_fail(-EPERM, "cannot run a command as '%s': acltap does not run as root",
			 t->user_name);
		return EXIT_LAUNCH;
	}
	if (!err && (setenv("HOME", t->user.home, 1) || setenv("USER", t->user_name, 1) ||
		     setenv("LOGNAME", t->user_name, 1)))
		err = -errno;
	if (!err)
		return -1;
	log_err(err, "cannot run a command as '%s'", t->user_name);
	return EXIT_LAUNCH;
}

static int find_command(struct targets *t)
{
	int err = libpath_find_command(t->argv[0], &t->exe);

	if (!err)
		return -1;
	log_err(err, "cannot run '%s'", t->argv[0]);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

int targets_prepare(struct targets *t, const struct command *cmd, char **argv)
{
	int status, err;

	t->argv = argv;
	status = check_options(t, cmd);
	if (status >= 0)
		return status;
	log_set_level(t->quiet ? LOG_QUIET : t->verbose ? LOG_VERBOSE : LOG_NORMAL);
	if (t->user_name)
		status = find_user(t, cmd);
	if (status < 0 && argv)
		status = find_command(t);
	if (status >= 0)
		return status;
	err = owner_decide(t->user_name ? &t->user : NULL);
	if (err)
		log_warn("the outputs will belong to root: %s", strerror(-err));
	return -1;
}

int targets_failed(const struct targets *t)
{
	return t->argv ? EXIT_LAUNCH : EXIT_FAILED;
}

static void explain(int err)
{
	struct rights rights;
	char text[512];

	rights_read(&rights);
	if (*rights_explain(&rights, RIGHTS_TRACE | RIGHT_BIT(RIGHT_SYS_ADMIN), err, text,
			    sizeof(text)))
		log_hint("%s", text);
}

int targets_open(struct targets *t, const struct session_config *cfg)
{
	struct session_config own = *cfg;
	const uint64_t page = (uint64_t)getpagesize();
	bool as_owner;
	int err;

	own.pids = t->pids.v;
	own.n_pids = t->pids.n;
	own.join = t->everyone ? JOIN_ALL : t->names.n ? JOIN_NAMED : JOIN_NONE;
	own.names = t->names.v;
	own.n_names = t->names.n;
	own.argv = t->argv;
	own.exe = t->exe;
	own.libs = t->libs.v;
	own.n_libs = t->libs.n;
	own.plan.lifecycle = t->lifecycle;
	own.plan.returns = t->returns;
	own.plan.force_entry = t->probe_site == 1;
	/* The kernel gives whole pages, which can be larger than the smallest ring. */
	own.ring_size = t->ring_size > page ? t->ring_size : page;
	own.duration_ns = t->duration_ns;
	own.delay_ns = t->delay_ns;
	own.follow = !t->no_follow;
	own.no_stop = t->no_stop;
	own.wait = t->wait;
	own.signals_fd = giveup_fd();
	own.signals_mask = giveup_inherited();
	own.user = t->user_name ? &t->user : NULL;
	as_owner = privs_as_owner(false);
	err = session_open(&own, &t->session);
	privs_as_owner(as_owner);
	if (err == -EPERM || err == -EACCES)
		explain(err);
	return err;
}

/*
 * Can a traced process be another user's? What those map is in files that only they may read. It
 * may become one after it was looked at: a command or a child by su, gosu or a set-user-id file.
 */
static bool can_be_others(const struct targets *t)
{
	uid_t uid;

	if (t->everyone || t->names.n || t->argv || !t->no_follow)
		return true;
	for (size_t i = 0; i < t->pids.n; i++)
		if (proc_uid(t->pids.v[i], &uid) || uid != privs_own_uid())
			return true;
	return false;
}

static void drop_rights(uint64_t keep)
{
	int err = privs_drop(keep);

	if (err)
		log_warn("cannot give up capabilities: %s", strerror(-err));
}

int targets_run(struct targets *t, int *cmd_status)
{
	const uint64_t outputs = t->override ? RIGHT_BIT(RIGHT_DAC_OVERRIDE) : 0;
	bool as_owner = privs_as_owner(false);
	int err;

	giveup_tracing(t->argv);
	/* The command has its own already, and keeps them. */
	drop_rights(RIGHTS_RUNNING | outputs |
		    (can_be_others(t) ? RIGHT_BIT(RIGHT_DAC_READ_SEARCH) : 0));
	err = session_run(t->session);
	giveup_arm(session_command(t->session), session_ended(t->session) == SESSION_SIGNAL);
	*cmd_status = 0;
	if (err && session_exec_error(t->session)) {
		log_err(err, "cannot run '%s'", t->argv[0]);
		*cmd_status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	} else {
		err = session_stop(t->session) ?: err; /* still looks into other users' files */
		drop_rights(outputs);		       /* nothing is attached any more */
	}
	privs_as_owner(as_owner);
	return err;
}

void targets_explain_silence(const struct targets *t)
{
	struct recorder_stats st = session_stats(t->session);

	if (st.calls || st.null_stamps)
		return;
	if (!session_saw_library(t->session)) {
		log_warn("no process was seen to map a library with the traced functions");
		log_hint("%s", t->no_stop ? "without --no-stop also one is seen that is soon "
					    "unloaded again; --lib FILE names a library"
					  : "'acltap list -p PID' shows what was found; --lib FILE "
					    "names a library");
	} else {
		log_warn("the library is probed, but none of its functions was called");
	}
	if (t->argv && libpath_sudo_lost_environment())
		log_hint("under sudo LD_LIBRARY_PATH and ASCEND_* are gone: try sudo -E");
}

void targets_free(struct targets *t)
{
	session_free(t->session);
	free(t->exe);
	opt_strings_free(&t->libs);
	opt_pids_free(&t->pids);
	opt_strings_free(&t->names);
	privs_user_free(&t->user);
	targets_init(t);
}
