// SPDX-License-Identifier: GPL-2.0-only
#include "sink/lanes.h"

#include <errno.h>
#include <stdlib.h>

size_t lanes_find(const struct lanes *l, uint64_t start_ns)
{
	size_t i = 1;

	if (!l->n || l->ends[1] > start_ns)
		return l->n;
	while (i < l->room)
		i = 2 * i + (l->ends[2 * i] > start_ns);
	i -= l->room;
	return i < l->n ? i : l->n; /* all places without a lane are taken */
}

uint64_t lanes_end(const struct lanes *l, size_t i)
{
	return l->ends[l->room + i];
}

static void set_end(struct lanes *l, size_t i, uint64_t end_ns)
{
	l->ends[l->room + i] = end_ns;
	for (size_t up = (l->room + i) / 2; up; up /= 2) {
		uint64_t a = l->ends[2 * up], b = l->ends[2 * up + 1];

		l->ends[up] = a < b ? a : b;
	}
}

static int grow(struct lanes *l)
{
	struct lanes more = {.room = l->room ? 2 * l->room : 1};

	more.ends = reallocarray(NULL, more.room, 2 * sizeof(*more.ends));
	if (!more.ends)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * more.room; i++)
		more.ends[i] = LANE_OPEN;
	for (; more.n < l->n; more.n++)
		set_end(&more, more.n, lanes_end(l, more.n));
	free(l->ends);
	*l = more;
	return 0;
}

int lanes_take(struct lanes *l, size_t i, uint64_t end_ns)
{
	if (i == l->n) {
		if (l->n == l->room && grow(l))
			return -ENOMEM;
		l->n++;
	}
	set_end(l, i, end_ns);
	return 0;
}

void lanes_free(struct lanes *l)
{
	free(l->ends);
	*l = (struct lanes){0};
}
