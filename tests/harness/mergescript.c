// SPDX-License-Identifier: GPL-2.0-only
#include "harness/mergescript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/evscript.h"
#include "store/replay.h"

static const char head[] = "=== ";

/* The next line that begins with ===, from the start of a line on; NULL when there is none. */
static const char *next_head(const char *text)
{
	const char *p;

	if (!strncmp(text, head, strlen(head)))
		return text;
	p = strstr(text, "\n=== ");
	return p ? p + 1 : NULL;
}

bool mergescript_is(const char *text)
{
	return next_head(text);
}

static int to_capture(void *ctx, const void *rec, size_t sz)
{
	return capwrite_record(ctx, rec, sz);
}

static int write_capture(const char *path, const char *text, size_t len, bool truncated,
			 char why[MERGE_WHY])
{
	struct capwrite *w;
	int err = capwrite_open(path, true, &w);

	if (err)
		return err;
	err = evscript_run(text, len, to_capture, w, why, MERGE_WHY);
	if (!err && !truncated)
		return capwrite_close(w);
	err = err ? err : capwrite_flush(w);
	capwrite_abandon(w);
	return err;
}

static int one_section(struct mergescript *m, const char *line, const char *end,
		       char why[MERGE_WHY])
{
	const char *text = strchr(line, '\n');
	struct merge_input *in = &m->inputs[m->n];
	char name[32], word[16] = "", *path = NULL;
	int err;

	if (!text || m->n == MERGESCRIPT_MAX || sscanf(line, "=== %31s%15[ a-z]", name, word) < 1)
		return -EINVAL;
	if (asprintf(&path, "%s/%s", m->dir, name) < 0)
		return -ENOMEM;
	err = write_capture(path, text + 1, (size_t)(end - text - 1), strstr(word, "truncated"),
			    why);
	in->path = path;
	in->name = path + strlen(m->dir) + 1;
	m->n++;
	return err;
}

int mergescript_write(struct mergescript *m, const char *text, char why[MERGE_WHY])
{
	const char *line = next_head(text);

	*m = (struct mergescript){.dir = "/tmp/acltap-merge.XXXXXX"};
	snprintf(why, MERGE_WHY, "the script is not right");
	if (!mkdtemp(m->dir))
		return -errno;
	snprintf(m->merged, sizeof(m->merged), "%s/merged", m->dir);
	while (line) {
		const char *next = next_head(line + 1);
		int err = 0;

		if (sscanf(line, "=== align %63[^\n]", m->align) != 1)
			err = one_section(m, line, next ? next : line + strlen(line), why);
		if (err)
			return err;
		line = next;
	}
	return m->n ? 0 : -EINVAL;
}

int mergescript_merge(struct mergescript *m, char why[MERGE_WHY])
{
	const struct merge_config cfg = {
		.inputs = m->inputs, .n = m->n, .align = *m->align ? m->align : NULL};
	struct merge *merge = NULL;
	int err = merge_plan(&cfg, &merge, why);

	if (!err)
		err = merge_write(merge, m->merged, true, why);
	merge_free(merge);
	return err;
}

void mergescript_free(struct mergescript *m)
{
	for (size_t i = 0; i < m->n; i++) {
		unlink(m->inputs[i].path);
		free((char *)m->inputs[i].path);
	}
	unlink(m->merged);
	rmdir(m->dir);
}

int mergescript_run(const char *text, const struct consumer *next, char why[MERGE_WHY])
{
	struct mergescript m;
	enum capread_end ended;
	int err = mergescript_write(&m, text, why);

	if (!err)
		err = mergescript_merge(&m, why);
	if (!err)
		err = replay_capture(m.merged, next, NULL, &ended, NULL, NULL);
	mergescript_free(&m);
	return err;
}
