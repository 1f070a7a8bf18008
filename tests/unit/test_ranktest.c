// SPDX-License-Identifier: GPL-2.0-only
/* The rank test against small cases worked out by hand, against another way, and its edges. */
#include "harness/test.h"

#include <math.h>
#include <stdlib.h>

#include "core/ranktest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TEST(a, b) test((a), COUNT(a), (b), COUNT(b))

static struct ranktest test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
	struct ranktest r, other;

	assert_ok(ranktest(a, n_a, b, n_b, &r));
	/* The other way round: the same p, the other pairs, the other direction. */
	assert_ok(ranktest(b, n_b, a, n_a, &other));
	assert_true(fabs(r.p - other.p) < 1e-12);
	assert_true(r.u + other.u == (double)n_a * (double)n_b);
	assert_false(r.b_larger && other.b_larger);
	assert_true(r.p >= 0 && r.p <= 1);
	return r;
}

static void near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%.9g is not within %g of %.9g", got, within, want);
}

/* Of the 20 ways to choose 3 of 6 one has all small ones, one all large ones. */
static void apart(void **state)
{
	static const uint64_t a[] = {3, 1, 2}, b[] = {6, 4, 5};
	struct ranktest r = TEST(a, b);

	(void)state;
	near(r.u, 9, 0);
	near(r.p, 2 / 20.0, 1e-12);
	assert_true(r.b_larger && r.exact);
	assert_false(TEST(b, a).b_larger);
}

/*
 * Mann and Whitney's own table (1947) of how likely u is at most so much: 4 and 3 values, u = 1:
 * .057; 5 and 5, u = 4: .048; 8 and 8, u = 13: .025. Both directions are twice that.
 */
static void published_table(void **state)
{
	static const uint64_t a4[] = {1, 2, 3, 5}, b3[] = {4, 6, 7};
	static const uint64_t a5[] = {1, 2, 3, 4, 9}, b5[] = {5, 6, 7, 8, 10};
	static const uint64_t a8[] = {1, 2, 3, 4, 5, 9, 10, 15},
			      b8[] = {6, 7, 8, 11, 12, 13, 14, 16};
	struct ranktest r = TEST(a4, b3);

	(void)state;
	near(r.u, 4 * 3 - 1, 0);
	near(r.p / 2, 0.057, 0.0005);
	r = TEST(a5, b5);
	near(r.u, 5 * 5 - 4, 0);
	near(r.p / 2, 0.048, 0.0005);
	r = TEST(a8, b8);
	near(r.u, 8 * 8 - 13, 0);
	near(r.p / 2, 0.025, 0.0005);
}

/* 1 2 | 2 3: ranks 1, 2.5, 2.5, 4. Of the 6 pairs of ranks those as far as 6.5 or 3.5: 4. */
static void equal_values(void **state)
{
	static const uint64_t a[] = {1, 2}, b[] = {2, 3};
	struct ranktest r = TEST(a, b);

	(void)state;
	near(r.u, 3.5, 0);
	near(r.p, 4 / 6.0, 1e-12);
	assert_true(r.b_larger);
}

static size_t ones(unsigned int x)
{
	return (size_t)__builtin_popcount(x);
}

/* Every choice of the ranks is tried: another way to the same p, with and without equal values. */
static void every_choice(void **state)
{
	unsigned int seed = 7;

	(void)state;
	for (int round = 0; round < 60; round++) {
		size_t n = 4 + (size_t)rand_r(&seed) % 8, n_a = 1 + (size_t)rand_r(&seed) % (n - 1);
		uint64_t v[12], range = round % 2 ? 4 : 1000;
		double far = 0, all = 0, u = 0, middle = (double)(n_a * (n - n_a)) / 2;

		for (size_t i = 0; i < n; i++)
			v[i] = (uint64_t)rand_r(&seed) % range;
		for (size_t i = 0; i < n_a; i++)
			for (size_t j = n_a; j < n; j++)
				u += v[j] > v[i] ? 1 : v[j] == v[i] ? 0.5 : 0;
		for (unsigned int choice = 0; choice < 1u << n; choice++) {
			double other = 0;

			if (ones(choice) != n_a)
				continue;
			for (size_t i = 0; i < n; i++)
				for (size_t j = 0; j < n; j++)
					if ((choice >> i & 1) && !(choice >> j & 1))
						other += v[j] > v[i] ? 1 : v[j] == v[i] ? 0.5 : 0;
			all++;
			far += fabs(other - middle) >= fabs(u - middle);
		}
		near(test(v, n_a, v + n_a, n - n_a).u, u, 0);
		near(test(v, n_a, v + n_a, n - n_a).p, far / all, 1e-9);
	}
}

/*
 * Worked out from the formula: A 1..20, B 11..30. u = 400 - 10 * 11 / 2 + 5 = 350; its variance is
 * 400 / 12 * (41 - 10 * (2^3 - 2) / (40 * 39)) = 1365.3846; z = (150 - .5) / 36.9511 = 4.04589.
 */
static void by_normal_distribution(void **state)
{
	uint64_t a[20], b[20];
	struct ranktest r;

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		a[i] = i + 1;
		b[i] = i + 11;
	}
	r = TEST(a, b);
	assert_false(r.exact);
	near(r.u, 350, 0);
	near(r.p, 5.212e-5, 1e-7);
}

/* Just beyond the limit, against what counting all arrangements of 16 and 16 gives. */
static void normal_is_near_exact(void **state)
{
	static const struct {
		uint64_t shift;
		double u, exact;
	} cases[] = {
		{1, 136, 0.780443},   {21, 165, 0.171256},   {41, 190, 0.018931},
		{61, 211, 0.0012382}, {81, 228, 0.00005731},
	};
	uint64_t a[16], b[16];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ranktest r;

		for (uint64_t k = 0; k < 16; k++) {
			a[k] = 10 * k;
			b[k] = a[k] + cases[i].shift;
		}
		r = TEST(a, b);
		assert_false(r.exact);
		near(r.u, cases[i].u, 0);
		near(r.p, cases[i].exact, 0.004);
		/* Far out it is too careful, not too bold. */
		assert_true(r.p > cases[i].exact || r.p > 0.05);
	}
}

static void nothing_to_see(void **state)
{
	static const uint64_t same[] = {5, 5, 5, 5}, some[] = {9, 2, 7, 2, 30}, one[] = {4};
	uint64_t many[100];
	struct ranktest r;

	(void)state;
	near(TEST(same, same).p, 1, 0);
	r = TEST(some, some);
	near(r.p, 1, 0);
	assert_false(r.b_larger);
	for (size_t i = 0; i < 100; i++)
		many[i] = 77;
	near(TEST(many, many).p, 1, 0);
	many[0] = 1;
	near(TEST(many, many).p, 1, 0);
	near(test(some, 5, some, 0).p, 1, 0);
	near(test(some, 0, some, 0).p, 1, 0);
	/* One value can never be more than the most extreme of all. */
	near(TEST(one, one).p, 1, 0);
	near(TEST(one, same).p, 1 / 5.0, 1e-12);
	near(test(one, 1, some, 1).p, 1, 0);
	assert_true(test(one, 1, some, 1).b_larger);
	/* Nor among many, where the normal distribution would have it so: 1 of 101. */
	near(TEST(one, many).p, 1 / 101.0, 1e-12);
}

/* As many as a reservoir keeps, times ten, at both ends of the numbers. */
static void huge(void **state)
{
	size_t n = 100000;
	uint64_t *a = malloc(n * sizeof(*a)), *b = malloc(n * sizeof(*b));
	struct ranktest r;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		a[i] = i % 3;
		b[i] = UINT64_MAX - i;
	}
	r = test(a, n, b, n);
	near(r.u, (double)n * (double)n, 0);
	near(r.p, 0, 1e-300);
	assert_true(r.b_larger);
	r = test(b, n, a, n);
	near(r.u, 0, 0);
	near(r.p, 0, 1e-300);
	near(test(a, n, a, n).p, 1, 0);
	/* One against many is no evidence. */
	assert_true(test(a, n, b, 1).p > 0.05);
	free(a);
	free(b);
}

/* Of two samples of one distribution p is small as seldom as it says. */
static void says_how_often_it_errs(void **state)
{
	unsigned int seed = 3, below_5 = 0, below_50 = 0;
	uint64_t a[40], b[25];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		double p;

		for (size_t i = 0; i < COUNT(a); i++)
			a[i] = (uint64_t)rand_r(&seed) % 50;
		for (size_t i = 0; i < COUNT(b); i++)
			b[i] = (uint64_t)rand_r(&seed) % 50;
		p = TEST(a, b).p;
		below_5 += p < 0.05;
		below_50 += p < 0.5;
	}
	assert_in_range(below_5, 60, 140);
	assert_in_range(below_50, 900, 1100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart),
		cmocka_unit_test(published_table),
		cmocka_unit_test(equal_values),
		cmocka_unit_test(every_choice),
		cmocka_unit_test(by_normal_distribution),
		cmocka_unit_test(normal_is_near_exact),
		cmocka_unit_test(nothing_to_see),
		cmocka_unit_test(huge),
		cmocka_unit_test(says_how_often_it_errs),
	};

	return RUN(tests);
}
