/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which files a command writes: -o values become a capture and a list of sinks. A known suffix is
 * one file; anything else is the output directory in place of PROF_<time>_<pid>.
 */
#ifndef ACLTAP_CMD_OUTPUTS_H
#define ACLTAP_CMD_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sink/sink.h"
#include "util/opt.h"

/* What the user says of them: a command embeds it and puts OUTPUTS_OPTIONS into its table. */
struct outputs_opts {
	struct opt_strings paths;
	struct sink_opts sink;
};

#define OUTPUTS_ROW(config, name, letter, type, field, arg, help)                                  \
	{                                                                                          \
		name, letter, type, offsetof(config, to) + offsetof(struct outputs_opts, field),   \
			arg, help, NULL, NULL                                                      \
	}

/* The rows of the table, for a config with a member `to`; the first says what -o takes there. */
#define OUTPUTS_OPTIONS(config, arg, help)                                                         \
	OUTPUTS_ROW(config, "output", 'o', OPT_STRINGS, paths, arg, help),                         \
		OUTPUTS_ROW(config, "force", 'f', OPT_FLAG, sink.overwrite, NULL,                  \
			    "overwrite existing files"),                                           \
		OUTPUTS_ROW(config, "no-tab", 0, OPT_FLAG, sink.no_tab, NULL,                      \
			    "csv: no TAB after times"),                                            \
		OUTPUTS_ROW(config, "lanes", 0, OPT_FLAG, sink.lanes, NULL,                        \
			    "json: overlapping ranges on rows of their own")

struct output {
	const struct sink_ops *ops;
	char *path;
	int held;     /* a FIFO or device, open until the end; -1 = none */
	bool in_dir;  /* lies in the output directory */
	bool as_root; /* only root may create it, not the user whom outputs belong to */
	bool sliced;  /* csv of an output directory: the vendor's viewer wants slices */
};

struct outputs {
	char *dir;	   /* the output directory, NULL = none */
	char *capture;	   /* path of the capture; NULL for export without .acltap */
	bool keep_capture; /* the user asked for it, or it lies in the directory */
	bool as_root;	   /* as in struct output: the directory with all in it, or the capture */
	struct output *v;
	size_t n;
	bool override; /* only with CAP_DAC_OVERRIDE can all of them be created */
};

/*
 * Decides everything, finds out whether it can be written, and creates the directory (absent or
 * empty). Without paths, and with want_capture, it is the default directory. Returns 0, or -errno
 * after telling the user.
 */
int outputs_plan(const struct outputs_opts *opts, bool want_capture, struct outputs *o);

/*
 * From here on files are opened and created with the rights that the capture (and the directory)
 * needs. Returns how it was, for privs_as_owner().
 */
bool outputs_enter(const struct outputs *o);

/* Does all that is written go where only root may write, and so to root? */
bool outputs_are_roots(const struct outputs *o);

/* Opens all sinks, each with the rights that it needs. Returns 0, or -errno after telling the user.
 */
int outputs_open(const struct outputs *o, struct sink_opts opts, struct fanout *f);

/* Removes a directory that was made for nothing: only what is empty in it. */
void outputs_remove_empty(const struct outputs *o);

void outputs_opts_free(struct outputs_opts *opts);
void outputs_free(struct outputs *o);

#endif
