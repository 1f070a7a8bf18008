/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command-line options from a table: one row per option, parsed into the command's own struct;
 * help comes from the same rows. Never prints by itself, never exits: an error is a text.
 */
#ifndef ACLTAP_UTIL_OPT_H
#define ACLTAP_UTIL_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* What the value is and what lies at the row's offset. */
enum opt_type {
	OPT_FLAG,     /* no value; bool, set to true */
	OPT_STRING,   /* const char *, points into argv; the last one counts */
	OPT_STRINGS,  /* struct opt_strings; repeatable */
	OPT_PIDS,     /* struct opt_pids; PID[,PID...], repeatable */
	OPT_U64,      /* uint64_t */
	OPT_SIZE,     /* uint64_t bytes: 16M */
	OPT_DURATION, /* uint64_t ns: 5s, 500ms */
	OPT_WORD,     /* int: the value of one of words */
	OPT_CUSTOM,   /* set() decides */
	OPT_HEADING,  /* not an option: a line of the help */
};

/* Owned by the command: opt_strings_free(), opt_pids_free(). The strings point into argv. */
struct opt_strings {
	const char **v;
	size_t n;
};

struct opt_pids {
	pid_t *v;
	size_t n;
};

struct opt_word {
	const char *word; /* NULL ends the list */
	int value;
};

#define OPT_TEXT 256

struct opt {
	const char *name; /* without dashes; NULL = only the letter */
	char letter;	  /* 0 = only the name */
	enum opt_type type;
	size_t offset;	  /* in the command's struct */
	const char *arg;  /* how help calls the value; NULL for OPT_FLAG */
	const char *help; /* one line, states the default */
	const struct opt_word *words;
	/* Returns 0 or -errno, then with the reason in why. With arg NULL it takes no value. */
	int (*set)(void *config, const char *value, char why[OPT_TEXT]);
};

enum opt_mode {
	OPT_MIXED,   /* arguments may stand between options; "--" ends the options */
	OPT_COMMAND, /* another program's command line follows after "--", and nothing else */
};

struct opt_result {
	bool help;   /* --help or -h: parsing stopped there */
	bool dashes; /* "--" was given */
	char **args; /* what is not an option, in order; argv itself, rearranged; NULL-terminated */
	int n_args;
	int n_before;	      /* OPT_MIXED: how many of them stood before "--" */
	uint64_t given;	      /* bit i: opts[i] was there; of the first 64 */
	char error[OPT_TEXT]; /* after -EINVAL: what is wrong */
	char hint[OPT_TEXT];  /* what to do about it, or "" */
};

/*
 * Parses argv[1..argc). Returns 0; -EINVAL with error set: a usage error; -ENOMEM. After an error
 * the config is half filled and still has to be freed.
 */
int opt_parse(const struct opt *opts, size_t n, enum opt_mode mode, int argc, char **argv,
	      void *config, struct opt_result *res);

/* Writes the table as help, at most 80 columns wide. Errors are f's own. */
void opt_help(const struct opt *opts, size_t n, FILE *f);

void opt_strings_free(struct opt_strings *s);
void opt_pids_free(struct opt_pids *p);

#endif
