/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the BPF ring buffer. In: the map. Out: raw wire records, and watermarks: times before which
 * no further record can appear. libbpf 1.1 does not show the producer position that a watermark
 * needs, hence this reader; the layout is the kernel's documented mmap interface
 * (Documentation/bpf/ringbuf.rst).
 */
#ifndef ACLTAP_LIVE_RING_H
#define ACLTAP_LIVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/*
 * Gets a record inside the ring, valid during the call. 1: it was one that can take long; -errno
 * stops the drain.
 */
typedef int (*ring_fn)(void *ctx, const void *rec, size_t sz);

int ring_open(int map_fd, uint64_t size, struct ring **out);
void ring_close(struct ring *r); /* NULL is fine */

/*
 * Hands over what is in the ring now. When records that can take long have taken more than slow_ns
 * (0: as long as they like) it returns, and the next call goes on. *watermark: every record older
 * has been handed over, 0 when nothing is known (a record is still being written, or some are
 * left). Returns the number of records, or fn's error.
 */
long ring_drain(struct ring *r, ring_fn fn, void *ctx, uint64_t slow_ns, uint64_t *watermark);
bool ring_is_behind(const struct ring *r); /* the last drain left some */

#endif
