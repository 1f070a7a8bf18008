// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an event script: parsed or refused with a line and a reason; what it makes is fed to
 * the pipeline, which must take it. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/checker.h"
#include "harness/evscript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int push(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pipeline_config cfg = {0};
	struct checker checker = {0};
	struct consumer to = checker_consumer(&checker);
	struct pipeline *p;
	char err[128] = "";
	int ret;

	if (pipeline_new(&cfg, &to, &p))
		abort();
	ret = evscript_run((const char *)data, size, push, p, err, sizeof(err));
	if (ret && (ret != -EINVAL || strncmp(err, "line ", 5)))
		abort();
	if (!ret && *err)
		abort();
	if (pipeline_finish(p, true))
		abort();
	checker_finished(&checker);
	pipeline_free(p);
	return 0;
}
