// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a capture, replayed into every output. A mutation seldom gets a checksum right, so
 * most inputs have theirs put right before they are tried: what lies behind them is what attacks.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/stats.h"
#include "core/tee.h"
#include "fuzz/checker.h"
#include "sink/sink.h"
#include "sink/summary.h"
#include "store/capfmt.h"
#include "store/replay.h"
#include "util/log.h"
#include "view/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Databases are slow to make: only of every so many-th input. */
#define DB_EVERY 64

/* ---- Checksums ------------------------------------------------------------------------------- */

static void mend(uint8_t *data, size_t size)
{
	struct capfmt_header h;
	struct capfmt_block b;
	size_t at = sizeof(h);

	if (size < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	h.crc = capfmt_header_crc(&h);
	memcpy(data, &h, sizeof(h));
	while (size - at >= sizeof(b)) {
		memcpy(&b, data + at, sizeof(b));
		if (b.size > size - at - sizeof(b))
			return;
		b.crc = capfmt_block_crc(&b, data + at + sizeof(b));
		memcpy(data + at, &b, sizeof(b));
		at += sizeof(b) + b.size;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 16)
		mend(data, size);
	return size;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

#define OUTPUTS_MAX 8

struct outputs {
	struct fanout *fan;
	char path[OUTPUTS_MAX][128];
	bool text[OUTPUTS_MAX];
	size_t n;
};

static char dir[64];

static void remove_dir(void)
{
	rmdir(dir);
}

/* In memory where that can be. */
static void make_dir(void)
{
	if (*dir)
		return;
	snprintf(dir, sizeof(dir), "%s/acltap-fuzz.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir) || atexit(remove_dir))
		abort();
}

static void outputs_open(struct outputs *o, bool with_db)
{
	const struct sink_opts opts = {.overwrite = true};

	if (fanout_new(&o->fan))
		abort();
	for (size_t i = 0; sink_table[i]; i++) {
		const char *name = sink_table[i]->name;
		bool db = !strcmp(name, "db");

		if ((db && !with_db) || !strcmp(name, "null"))
			continue;
		if (o->n == OUTPUTS_MAX)
			abort();
		/* .csv keeps control characters, as the vendor's does. */
		o->text[o->n] =
			!strcmp(name, "json") || !strcmp(name, "tsv") || !strcmp(name, "ndjson");
		snprintf(o->path[o->n], sizeof(o->path[o->n]), "%s/%s", dir, name);
		if (fanout_add(o->fan, sink_table[i], o->path[o->n], &opts))
			abort();
		o->n++;
	}
}

/* What no editor and no terminal is harmed by. */
static void check_text(FILE *f)
{
	int c;

	if (!f)
		abort();
	while ((c = getc(f)) != EOF)
		if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f)
			abort();
	fclose(f);
}

static void outputs_close(struct outputs *o, bool written)
{
	fanout_free(o->fan);
	for (size_t i = 0; i < o->n; i++) {
		if (written && o->text[i])
			check_text(fopen(o->path[i], "re"));
		unlink(o->path[i]);
	}
}

static void check_summary(const struct summary *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	summary_print(s, f);
	fclose(f);
	if (len)
		check_text(fmemopen(text, len, "r"));
	free(text);
}

/* Everything that reads a trace, at once. */
static void replay(const char *capture, bool with_db)
{
	const struct stats_config few = {.max_values = 64, .max_rows = 16};
	struct checker checker = {0};
	struct outputs outs = {0};
	struct lines lines = {.color = true};
	struct summary *summary;
	enum capread_end ended;
	struct stats *stats;
	struct tee tee[3];
	int ret;

	if (stats_new(&few, &stats) || summary_new(&summary) ||
	    out_file("/dev/null", true, &lines.out))
		abort();
	outputs_open(&outs, with_db);

	struct consumer each[] = {checker_consumer(&checker), stats_consumer(stats),
				  lines_consumer(&lines)};
	struct consumer to = fanout_consumer(outs.fan);

	for (size_t i = 0; i < 3; i++)
		to = tee_consumer(&tee[i], &each[i], &to);
	ret = replay_capture(capture, &to, summary, &ended, NULL, NULL);
	if (ret && ret != -EINVAL && ret != -ENOTSUP)
		abort();
	if (!ret) {
		checker_finished(&checker);
		stats_sort(stats, STATS_TOTAL);
		check_summary(summary);
	}
	outputs_close(&outs, !ret);
	stats_free(stats);
	summary_free(summary);
	out_discard(lines.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	make_dir();
	log_set_level(LOG_QUIET);
	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	replay(path, crc32(0, data, (uInt)size) % DB_EVERY == 0);
	close(fd);
	return 0;
}
