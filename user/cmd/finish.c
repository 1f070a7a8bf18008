// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/finish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "sink/summary.h"
#include "store/replay.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/privs.h"
#include "util/safepath.h"

#define NS_PER_S 1000000000ull

struct progress progress_new(const char *what)
{
	return (struct progress){.begin_ns = clock_mono_ns(), .what = what};
}

void progress_show(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;
	uint64_t now = clock_mono_ns();
	char bar[] = "....................";

	if (now - p->begin_ns < NS_PER_S || now - p->shown_ns < NS_PER_S / 5 || !total)
		return;
	p->shown_ns = now;
	memset(bar, '#', (size_t)(20 * (done > total ? total : done) / total));
	log_status("%s [%s] %u%%", p->what, bar, (unsigned int)(100 * done / total));
}

int finish_tell_truncated(const char *source, enum capread_end ended)
{
	if (ended == CAPREAD_TRUNCATED)
		log_warn("'%s' is incomplete: its recording crashed", source);
	if (ended == CAPREAD_RUNNING)
		log_warn("'%s' is incomplete: its recording goes on", source);
	if (ended == CAPREAD_DAMAGED)
		log_warn("'%s' is damaged: only what stands before the damage was read", source);
	return ended == CAPREAD_COMPLETE ? EXIT_OK : EXIT_FAILED;
}

void finish_tell_unreadable(int err, const char *source)
{
	if (err == -EINVAL)
		log_fail(err, "cannot read '%s': not an acltap capture", source);
	else if (err == -ENOTSUP)
		log_fail(err, "cannot read '%s': written by a newer acltap", source);
	else
		log_err(err, "cannot read '%s'", source);
	if (err == -EACCES && privs_for_user())
		log_hint("for files of yours, captures are read with your own rights");
}

char *finish_capture_of(const char *arg)
{
	struct stat st;
	char *path = NULL;

	if (stat(arg, &st) || !S_ISDIR(st.st_mode))
		return strdup(arg);
	return asprintf(&path, "%s/capture" CAPTURE_SUFFIX, arg) < 0 ? NULL : path;
}

static void tell_failure(int err, const char *source, const struct fanout *f)
{
	for (size_t i = 0; i < fanout_count(f); i++) {
		const struct sink *s = fanout_get(f, i);

		if (s->err) {
			log_err(s->err, "cannot write '%s'", s->path);
			if (s->err == -ENOSPC)
				log_hint("free space, then 'acltap export %s -o FILE'", source);
			return;
		}
	}
	finish_tell_unreadable(err, source);
}

static int replay(const struct finish_config *cfg, struct fanout *f, struct summary *s,
		  struct finish_result *res)
{
	const char *source = cfg->source ? cfg->source : cfg->outputs->capture;
	struct progress reading = progress_new("reading"), writing = progress_new("writing");
	enum capread_end ended = CAPREAD_COMPLETE;
	bool was = privs_is_owner();
	int err;

	fanout_progress(f, progress_show, &writing);
	/* Of others' captures nothing gets into files of the user who called sudo. */
	if (!cfg->source)
		outputs_enter(cfg->outputs);
	else if (outputs_are_roots(cfg->outputs))
		privs_as_owner(false);
	err = export_capture(source, !cfg->source, f, cfg->filter, s, &ended, progress_show,
			     &reading);
	privs_as_owner(was);
	log_status(" ");
	if (err) {
		tell_failure(err, source, f);
		return err;
	}
	res->status = finish_tell_truncated(source, ended);
	res->incomplete = summary_is_strict_failure(s);
	return 0;
}

/* The capture is done when everything that was asked for is. */
static void drop_capture(const struct finish_config *cfg)
{
	const struct outputs *o = cfg->outputs;
	bool was;
	int err;

	if (cfg->source || o->keep_capture || !o->capture)
		return;
	was = outputs_enter(o);
	err = safepath_remove(o->capture);
	if (err)
		log_warn("cannot remove '%s': %s", o->capture, strerror(-err));
	privs_as_owner(was);
}

static void print_summary(const struct finish_config *cfg, const struct summary *s,
			  const struct fanout *f)
{
	if (cfg->quiet)
		return;
	summary_print(s, stderr);
	summary_print_files(f, stderr);
	if (!cfg->source && cfg->outputs->keep_capture)
		fprintf(stderr, "  %s: everything; 'acltap export' turns it into other formats\n",
			cfg->outputs->capture);
}

int finish_outputs(const struct finish_config *cfg, struct finish_result *res)
{
	struct fanout *f = NULL;
	struct summary *s = NULL;
	int err = fanout_new(&f);

	err = err ?: summary_new(&s);
	err = err ?: outputs_open(cfg->outputs, cfg->sink, f);
	err = err ?: replay(cfg, f, s, res);
	if (!err) {
		print_summary(cfg, s, f);
		drop_capture(cfg);
	}
	summary_free(s);
	fanout_free(f);
	return err;
}

void finish_keep_capture(const struct outputs *o)
{
	_free_ char *older = NULL;
	struct stat st;
	bool was, none;

	if (!o->capture || asprintf(&older, "%s" CAPTURE_OLDER, o->capture) < 0)
		return;
	was = outputs_enter(o);
	none = stat(o->capture, &st) && stat(older, &st);
	privs_as_owner(was);
	if (none)
		return;
	log_info("what was recorded is in '%s'", o->capture);
	log_hint("acltap export %s -o FILE", o->capture);
}
