/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers with units: read from the command line, written for people. Pure. */
#ifndef ACLTAP_UTIL_UNIT_H
#define ACLTAP_UTIL_UNIT_H

#include <stdint.h>
#include <sys/types.h>

/* All return 0, -EINVAL (not such a number) or -ERANGE (too large); *v is then untouched. */
int unit_u64(const char *s, uint64_t *v);	/* decimal digits, nothing else */
int unit_pid(const char *s, pid_t *pid);	/* 1 .. 2^31-1 */
int unit_size(const char *s, uint64_t *bytes);	/* 4096, 16M, 1.5GiB; units of 1024 */
int unit_duration(const char *s, uint64_t *ns); /* 5s, 1.5ms, 2m; ns us ms s m h d; bare = s */
int unit_percent(const char *s, uint64_t *thousandths); /* 10%, 2.5%; bare = % */

#define UNIT_MAX 40 /* room for each of the texts below */

/* All write into buf and return it. */
const char *unit_fmt_count(char buf[UNIT_MAX], uint64_t v);	/* 1,234,567 */
const char *unit_fmt_duration(char buf[UNIT_MAX], uint64_t ns); /* 950 ns, 1.234 ms, 2m 05.3s */
const char *unit_fmt_bytes(char buf[UNIT_MAX], uint64_t bytes); /* 512 B, 16.0 MiB */

#endif
