// SPDX-License-Identifier: GPL-2.0-only
#include "live/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/clock.h"

/* Consumed space is given back in steps, so that producers see it early but not at every record. */
#define GIVE_BACK (64u << 10)

struct ring {
	unsigned long *consumer_pos;
	const unsigned long *producer_pos;
	const char *data;
	uint64_t mask;
	size_t page, producer_sz;
	unsigned long end; /* a drain that was left early goes on up to there, 0 = none was */
	uint64_t end_ns;   /* its watermark */
};

int ring_open(int map_fd, uint64_t size, struct ring **out)
{
	struct ring *r = calloc(1, sizeof(*r));
	void *cons, *prod;
	int err;

	if (!r)
		return -ENOMEM;
	r->page = getpagesize();
	r->mask = size - 1;
	r->producer_sz = r->page + 2 * size; /* the data twice, so that no record wraps */
	cons = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (cons == MAP_FAILED) {
		err = -errno;
		free(r);
		return err;
	}
	prod = mmap(NULL, r->producer_sz, PROT_READ, MAP_SHARED, map_fd, r->page);
	if (prod == MAP_FAILED) {
		err = -errno;
		munmap(cons, r->page);
		free(r);
		return err;
	}
	r->consumer_pos = cons;
	r->producer_pos = prod;
	r->data = (const char *)prod + r->page;
	*out = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	munmap(r->consumer_pos, r->page);
	munmap((void *)r->producer_pos, r->producer_sz);
	free(r);
}

static void give_back(struct ring *r, unsigned long pos)
{
	__atomic_store_n(r->consumer_pos, pos, __ATOMIC_RELEASE);
}

/* The clock first: what comes behind that position is newer. */
static void begin_drain(struct ring *r, uint64_t now)
{
	if (r->end)
		return;
	r->end_ns = now;
	r->end = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE);
}

long ring_drain(struct ring *r, ring_fn fn, void *ctx, uint64_t slow_ns, uint64_t *watermark)
{
	uint64_t now = clock_mono_ns();
	unsigned long pos = *r->consumer_pos, given = pos;
	bool early = false;
	long n = 0;
	int err = 0;

	begin_drain(r, now);
	while (pos < r->end && err >= 0 && !early) {
		const char *at = r->data + (pos & r->mask);
		uint32_t hdr = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t len = hdr & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (hdr & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(hdr & BPF_RINGBUF_DISCARD_BIT)) {
			err = fn(ctx, at + BPF_RINGBUF_HDR_SZ, len);
			early = err > 0 && slow_ns && clock_mono_ns() - now > slow_ns;
			n++;
		}
		pos += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		if (pos - given >= GIVE_BACK) {
			give_back(r, pos);
			given = pos;
		}
	}
	give_back(r, pos);
	*watermark = pos >= r->end && err >= 0 ? r->end_ns : 0;
	if (!early || *watermark)
		r->end = 0;
	return err < 0 ? err : n;
}

bool ring_is_behind(const struct ring *r)
{
	return r->end;
}
