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
 * empty). paths may be empty: with want_capture the default directory. Returns 0, or -errno after
 * telling the user.
 */
int outputs_plan(const struct opt_strings *paths, bool want_capture, bool overwrite,
		 struct outputs *o);

/*
 * From here on files are opened and created with the rights that the capture (and the directory)
 * needs. Returns how it was, for privs_as_owner().
 */
bool outputs_enter(const struct outputs *o);

/* Opens all sinks, each with the rights that it needs. Returns 0, or -errno after telling the user.
 */
int outputs_open(const struct outputs *o, struct sink_opts opts, struct fanout *f);

/* Removes a directory that was made for nothing: only what is empty in it. */
void outputs_remove_empty(const struct outputs *o);

void outputs_free(struct outputs *o);

#endif
