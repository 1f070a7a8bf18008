// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>

#include "util/unit.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	const char *text;
	int err;
	uint64_t value;
};

static void check_rows(int (*parse)(const char *s, uint64_t *v), const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 77;
		int err = parse(rows[i].text, &v);

		if (err != rows[i].err || v != (err ? 77 : rows[i].value))
			fail_msg("'%s': error %d, value %llu", rows[i].text, err,
				 (unsigned long long)v);
	}
}

static void numbers(void **state)
{
	static const struct row rows[] = {
		{"0", 0, 0},
		{"007", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1K", -EINVAL, 0},
	};

	(void)state;
	check_rows(unit_u64, rows, N(rows));
}

static void sizes(void **state)
{
	static const struct row rows[] = {
		{"4096", 0, 4096},
		{"1B", 0, 1},
		{"64K", 0, 65536},
		{"64k", 0, 65536},
		{"16M", 0, 16777216},
		{"16MiB", 0, 16777216},
		{"1.5G", 0, 1610612736},
		{"0.5K", 0, 512},
		{"16777215T", 0, 16777215ULL << 40},
		{"16777216T", -ERANGE, 0},
		{"16MB", -EINVAL, 0},
		{"16 M", -EINVAL, 0},
		{"M", -EINVAL, 0},
		{"1.M", -EINVAL, 0},
		{".5M", -EINVAL, 0},
		{"1.2.3M", -EINVAL, 0},
		{"-1M", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
	};

	(void)state;
	check_rows(unit_size, rows, N(rows));
}

static void durations(void **state)
{
	static const struct row rows[] = {
		{"5", 0, 5000000000},
		{"5s", 0, 5000000000},
		{"500ms", 0, 500000000},
		{"2m", 0, 120000000000},
		{"2min", 0, 120000000000},
		{"1h", 0, 3600000000000},
		{"1d", 0, 86400000000000},
		{"7us", 0, 7000},
		{"3ns", 0, 3},
		{"1.5s", 0, 1500000000},
		{"0.0000001s", 0, 0},
		{"1.000001s", 0, 1000001000},
		{"0.1ms", 0, 100000},
		{"0", 0, 0},
		{"213503d", 0, 213503ULL * 86400 * 1000000000},
		{"213504d", -ERANGE, 0},
		{"18446744073709551615ns", 0, UINT64_MAX},
		{"s", -EINVAL, 0},
		{"5sec", -EINVAL, 0},
		{"5S", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"", -EINVAL, 0},
	};

	(void)state;
	check_rows(unit_duration, rows, N(rows));
}

static void percents(void **state)
{
	static const struct row rows[] = {
		{"10%", 0, 10000},    {"10", 0, 10000},	    {"2.5%", 0, 2500},
		{"0.0015%", 0, 1},    {"0%", 0, 0},	    {"250%", 0, 250000},
		{"10 %", -EINVAL, 0}, {"%", -EINVAL, 0},    {"-5%", -EINVAL, 0},
		{"10%%", -EINVAL, 0}, {"1e2%", -EINVAL, 0}, {"18446744073709552%", -ERANGE, 0},
	};

	(void)state;
	check_rows(unit_percent, rows, N(rows));
}

static void pids(void **state)
{
	pid_t pid = 5;

	(void)state;
	assert_ok(unit_pid("1", &pid));
	assert_int_equal(pid, 1);
	assert_ok(unit_pid("2147483647", &pid));
	assert_int_equal(pid, 2147483647);
	assert_err(unit_pid("2147483648", &pid), ERANGE);
	assert_err(unit_pid("0", &pid), EINVAL);
	assert_err(unit_pid("-1", &pid), EINVAL);
	assert_err(unit_pid("self", &pid), EINVAL);
	assert_int_equal(pid, 2147483647);
}

static void counts_have_separators(void **state)
{
	char b[UNIT_MAX];

	(void)state;
	assert_string_equal(unit_fmt_count(b, 0), "0");
	assert_string_equal(unit_fmt_count(b, 999), "999");
	assert_string_equal(unit_fmt_count(b, 1000), "1,000");
	assert_string_equal(unit_fmt_count(b, 1234567), "1,234,567");
	assert_string_equal(unit_fmt_count(b, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void durations_round_into_the_next_unit(void **state)
{
	char b[UNIT_MAX];

	(void)state;
	assert_string_equal(unit_fmt_duration(b, 0), "0 ns");
	assert_string_equal(unit_fmt_duration(b, 999), "999 ns");
	assert_string_equal(unit_fmt_duration(b, 1000), "1.000 us");
	assert_string_equal(unit_fmt_duration(b, 999999), "999.999 us");
	assert_string_equal(unit_fmt_duration(b, 1234567), "1.235 ms");
	assert_string_equal(unit_fmt_duration(b, 999999499), "999.999 ms");
	assert_string_equal(unit_fmt_duration(b, 999999500), "1.000 s");
	assert_string_equal(unit_fmt_duration(b, 59999499999), "59.999 s");
	assert_string_equal(unit_fmt_duration(b, 59999500000), "1m 00.0s");
	assert_string_equal(unit_fmt_duration(b, 125300000000), "2m 05.3s");
	assert_string_equal(unit_fmt_duration(b, 3599950000000), "1h 00m 00s");
	assert_string_equal(unit_fmt_duration(b, 3723000000000), "1h 02m 03s");
	assert_string_equal(unit_fmt_duration(b, UINT64_MAX), "5124095h 34m 34s");
}

static void bytes(void **state)
{
	char b[UNIT_MAX];

	(void)state;
	assert_string_equal(unit_fmt_bytes(b, 1023), "1023 B");
	assert_string_equal(unit_fmt_bytes(b, 1024), "1.0 KiB");
	assert_string_equal(unit_fmt_bytes(b, 1536), "1.5 KiB");
	assert_string_equal(unit_fmt_bytes(b, 16 << 20), "16.0 MiB");
	assert_string_equal(unit_fmt_bytes(b, (1 << 20) - 1), "1.0 MiB");
	assert_string_equal(unit_fmt_bytes(b, 1023 << 10), "1023.0 KiB");
	assert_string_equal(unit_fmt_bytes(b, UINT64_MAX), "16.0 EiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(durations),
		cmocka_unit_test(percents),
		cmocka_unit_test(pids),
		cmocka_unit_test(counts_have_separators),
		cmocka_unit_test(durations_round_into_the_next_unit),
		cmocka_unit_test(bytes),
	};

	return RUN(tests);
}
