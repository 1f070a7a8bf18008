/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a record says that a process may become a traced one: arg0 of WIRE_JOINED. */
#ifndef ACLTAP_JOINED_H
#define ACLTAP_JOINED_H

enum joined {
	JOINED_CALL = 0,   /* its first call of a traced function */
	JOINED_RETURN = 1, /* the first thing seen of it is the return from one */
	JOINED_NAME = 2, /* -n: it got the name in the message; it need not have called anything */
};

#endif
