/* SPDX-License-Identifier: GPL-2.0-only */
/* cmocka with what it needs, once. */
#ifndef ACLTAP_TEST_H
#define ACLTAP_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define assert_ok(expr) assert_int_equal((expr), 0)
#define assert_err(expr, err) assert_int_equal((expr), -(err))
#define RUN(tests) cmocka_run_group_tests((tests), NULL, NULL)

#endif
