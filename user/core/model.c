// SPDX-License-Identifier: GPL-2.0-only
#include "core/model.h"

#include <stddef.h>
#include <string.h>

#define NAME_OF(names, i) ((size_t)(i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : "?")

unsigned int span_shown_name(const struct span *sp, char buf[SPAN_NAME_MAX])
{
	size_t n = sp->name_len < 255 ? sp->name_len : 255;

	n = n ? strnlen(sp->name, n) : 0;
	if (n)
		memcpy(buf, sp->name, n);
	if (sp->unreadable) {
		memcpy(buf + n, UNREADABLE_TEXT, sizeof(UNREADABLE_TEXT) - 1);
		n += sizeof(UNREADABLE_TEXT) - 1;
	}
	buf[n] = '\0';
	return (unsigned int)n;
}

const char *span_kind_name(enum span_kind kind)
{
	static const char *const names[] = {
		[SPAN_MARKER] = "marker",
		[SPAN_PUSH_POP] = "push/pop",
		[SPAN_START_END] = "start/end",
		[SPAN_MARKER_EX] = "marker_ex",
	};

	return NAME_OF(names, kind);
}

const char *span_status_name(enum span_status st)
{
	static const char *const names[] = {
		[SPAN_COMPLETE] = "complete",	[SPAN_UNFINISHED] = "unfinished",
		[SPAN_OPEN] = "open",		[SPAN_SUPERSEDED] = "superseded",
		[SPAN_UNCERTAIN] = "uncertain",
	};

	return NAME_OF(names, st);
}

const char *tally_kind_name(enum tally_kind kind)
{
	static const char *const names[] = {
		[TALLY_CALL] = "call",
		[TALLY_ORPHAN] = "orphan",
		[TALLY_FAILED] = "failed",
		[TALLY_UNREADABLE] = "unreadable",
		[TALLY_CUT] = "cut",
		[TALLY_LOSS] = "loss",
		[TALLY_LOST_RETURN] = "lost_return",
		[TALLY_LOST_PROCESS] = "lost_process",
		[TALLY_LOST_START] = "lost_start",
		[TALLY_LIMIT] = "limit",
		[TALLY_NULL_STAMP] = "null_stamp",
		[TALLY_LATE] = "late",
		[TALLY_BAD] = "bad",
		[TALLY_MISMATCH] = "mismatch",
	};

	return NAME_OF(names, kind);
}

bool tally_is_loss(enum tally_kind kind)
{
	return kind == TALLY_LOSS || kind == TALLY_LOST_RETURN || kind == TALLY_LOST_PROCESS;
}
