// SPDX-License-Identifier: GPL-2.0-only
#include "live/prelook.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "discover/elfsym.h"
#include "discover/libpath.h"
#include "util/cleanup.h"
#include "util/log.h"

static int look_quietly(void *ctx, const char *path)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		files_look(ctx, fd, path);
	return 0;
}

/* The dynamic loader that the program names, as seen from here: the command starts here too. */
static void look_at_loader(struct files *files, int exe_fd)
{
	struct elf_scan *scan = malloc(sizeof(*scan));

	if (scan && !elfsym_scan(exe_fd, scan) && *scan->interp == '/')
		look_quietly(files, scan->interp);
	free(scan);
}

void prelook(struct files *files, struct procs *procs, const char *exe)
{
	_fd_ int fd = open(exe, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	libpath_for_each(environ, look_quietly, files);
	if (fd < 0 || files_look(files, fd, exe) < 0)
		return; /* a script: its interpreter is looked at when it starts */
	look_at_loader(files, fd);
	procs_know_exe(procs, fd, STOP_ARMED);
}
