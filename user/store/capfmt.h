/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of capture.h as structs, for its writer and its reader. Little endian hosts only. */
#ifndef ACLTAP_STORE_CAPFMT_H
#define ACLTAP_STORE_CAPFMT_H

#include <stdint.h>
#include <zlib.h>

#define CAPFMT_MAGIC "ACLTAP\r\n"
#define CAPFMT_VERSION 1u
#define CAPFMT_MERGED 2u /* the version of a capture with records of several sources */
#define CAPFMT_HEADER_SIZE 64u
#define CAPFMT_BLOCK_MAGIC 0x314b4c42u /* "BLK1" */

enum { CAPFMT_RECORDS = 1, CAPFMT_FOOTER = 2 };

struct capfmt_header {
	char magic[8];
	uint32_t version;
	uint32_t wire_version;
	uint32_t header_size;
	uint32_t crc; /* of the 20 bytes before it */
	/*
	 * Of a capture that keeps its last part only, while it is recorded: number of this part,
	 * and where its own records begin, behind those that it repeats; while the newest part is
	 * appended to the one before it, where its own end there. 0 of every whole capture.
	 */
	uint64_t part, begin, end;
	uint8_t zeros[16];
};

struct capfmt_block {
	uint32_t magic;
	uint32_t type;
	uint32_t size; /* of the payload */
	uint32_t crc;  /* of type, size and payload */
};

struct capfmt_footer {
	uint64_t records;
	uint64_t first_ns, last_ns; /* lowest and highest time_ns of all records */
	uint64_t blocks;	    /* of records */
};

#define CAPFMT_PAYLOAD_MAX (CAPTURE_BLOCK_MAX - sizeof(struct capfmt_block))

static inline uint32_t capfmt_header_crc(const struct capfmt_header *h)
{
	return (uint32_t)crc32(0, (const Bytef *)h, offsetof(struct capfmt_header, crc));
}

static inline uint32_t capfmt_block_crc(const struct capfmt_block *b, const void *payload)
{
	uLong crc = crc32(0, (const Bytef *)&b->type, sizeof(b->type) + sizeof(b->size));

	return (uint32_t)crc32(crc, payload, b->size);
}

static inline uint32_t capfmt_padded(uint32_t n)
{
	return (n + 7) & ~7u;
}

_Static_assert(sizeof(struct capfmt_header) == CAPFMT_HEADER_SIZE, "capture header layout");
_Static_assert(sizeof(struct capfmt_block) == 16, "capture block layout");
_Static_assert(sizeof(struct capfmt_footer) == 32, "capture footer layout");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little endian");

#endif
