// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <string.h>

#include "util/rights.h"

static const char *explain(const struct rights *r, uint64_t need, int err)
{
	static char buf[256];

	return rights_explain(r, need, err, buf, sizeof(buf));
}

static const char *missing(uint64_t have)
{
	static char buf[256];
	struct rights r = {.caps = have};

	return rights_missing(
		&r, RIGHTS_TRACE | RIGHT_BIT(RIGHT_SYS_ADMIN) | RIGHT_BIT(RIGHT_SYS_PTRACE), buf,
		sizeof(buf));
}

static void status_is_read(void **state)
{
	struct rights r = {0};

	(void)state;
	assert_ok(rights_parse_status("Name:\tCapEff:\nCapPrm:\t0\nCapEff:\t000001fffeffffff\n"
				      "Seccomp:\t2\nSeccomp_filters:\t1\n",
				      &r));
	assert_true(r.caps == 0x1fffeffffffULL);
	assert_true(r.seccomp);
	assert_ok(rights_parse_status("CapEff:\t0000000000000020\nSeccomp:\t0", &r));
	assert_true(r.caps == RIGHT_BIT(RIGHT_KILL));
	assert_false(r.seccomp);
	assert_err(rights_parse_status("", &r), EBADMSG);
	assert_err(rights_parse_status("CapPrm:\t1\n", &r), EBADMSG);
	assert_err(rights_parse_status("CapEff:\tzz\n", &r), EBADMSG);
	assert_err(rights_parse_status("CapEff:\t1z\n", &r), EBADMSG);
}

static void lockdown_is_the_bracketed_word(void **state)
{
	(void)state;
	assert_int_equal(rights_parse_lockdown("[none] integrity confidentiality\n"),
			 LOCKDOWN_NONE);
	assert_int_equal(rights_parse_lockdown("none [integrity] confidentiality\n"),
			 LOCKDOWN_INTEGRITY);
	assert_int_equal(rights_parse_lockdown("none integrity [confidentiality]\n"),
			 LOCKDOWN_CONFIDENTIALITY);
	assert_int_equal(rights_parse_lockdown("none integrity"), LOCKDOWN_UNKNOWN);
	assert_int_equal(rights_parse_lockdown(""), LOCKDOWN_UNKNOWN);
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	assert_string_equal(missing(0), "CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN and CAP_SYS_PTRACE");
	assert_string_equal(missing(RIGHT_BIT(RIGHT_BPF)),
			    "CAP_PERFMON, CAP_SYS_ADMIN and CAP_SYS_PTRACE");
	assert_string_equal(missing(RIGHTS_TRACE), "CAP_SYS_ADMIN and CAP_SYS_PTRACE");
	/* SYS_ADMIN includes BPF and PERFMON. */
	assert_string_equal(missing(RIGHT_BIT(RIGHT_SYS_ADMIN)), "CAP_SYS_PTRACE");
	assert_string_equal(missing(~0ULL), "");
}

static void a_small_buffer_is_not_overrun(void **state)
{
	struct rights r = {0};
	char buf[20];

	(void)state;
	for (size_t sz = 1; sz <= sizeof(buf); sz++) {
		rights_missing(&r, RIGHTS_TRACE, buf, sz);
		assert_true(strlen(buf) < sz);
	}
}

static void a_refusal_is_explained_by_the_nearest_cause(void **state)
{
	struct rights r = {.caps = RIGHT_BIT(RIGHT_BPF), .selinux = true, .seccomp = true};

	(void)state;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "missing CAP_PERFMON:"));
	r.caps = ~0ULL;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EACCES), "SELinux"));
	r.selinux = false;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "seccomp"));
	r.seccomp = false;
	strcpy(r.lsm, "lockdown,apparmor");
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "apparmor"));
	r.lockdown = LOCKDOWN_CONFIDENTIALITY;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "lockdown"));
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EINVAL), "lockdown"));
	r.user_ns = true;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "user namespace"));
	r.memlock = true;
	assert_non_null(strstr(explain(&r, RIGHTS_TRACE, -EPERM), "locked memory"));
}

static void locked_memory_counts_before_5_11(void **state)
{
	(void)state;
	assert_true(rights_counts_memlock("5.10.0-46-cloud-amd64"));
	assert_true(rights_counts_memlock("4.19.90"));
	assert_false(rights_counts_memlock("5.11.0"));
	assert_false(rights_counts_memlock("6.1.0-57-cloud-amd64"));
	assert_false(rights_counts_memlock("of unknown form"));
}

static void other_errors_have_nothing_to_do_with_rights(void **state)
{
	struct rights r = {0};

	(void)state;
	assert_string_equal(explain(&r, RIGHTS_TRACE, -EINVAL), "");
	assert_string_equal(explain(&r, RIGHTS_TRACE, -ENOENT), "");
	assert_string_equal(explain(&r, RIGHTS_TRACE, 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_is_read),
		cmocka_unit_test(lockdown_is_the_bracketed_word),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(a_small_buffer_is_not_overrun),
		cmocka_unit_test(a_refusal_is_explained_by_the_nearest_cause),
		cmocka_unit_test(locked_memory_counts_before_5_11),
		cmocka_unit_test(other_errors_have_nothing_to_do_with_rights),
	};

	return RUN(tests);
}
