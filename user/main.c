// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	return cmd_main(argc, argv);
}
