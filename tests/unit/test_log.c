// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

static const char *safe(const char *s)
{
	static char buf[256];

	return log_safe(s, strlen(s), buf, sizeof(buf));
}

static void plain_text_and_utf8_stay(void **state)
{
	(void)state;
	assert_string_equal(safe(""), "");
	assert_string_equal(safe("forward \\ 'x'"), "forward \\ 'x'");
	assert_string_equal(safe("\xe5\x89\x8d\xe5\x90\x91 \xc3\xa9 \xf0\x9f\x98\x80"),
			    "\xe5\x89\x8d\xe5\x90\x91 \xc3\xa9 \xf0\x9f\x98\x80");
}

static void what_a_terminal_obeys_becomes_visible(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(safe("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
	assert_string_equal(safe("\033]0;title\007"), "\\x1b]0;title\\x07");
	assert_string_equal(safe("\x7f"), "\\x7f");
	assert_string_equal(safe("\xc2\x9b"
				 "2J"),
			    "\\u009b2J");
	assert_string_equal(safe("\xe2\x80\xae"
				 "abc"),
			    "\\u202eabc");
	assert_string_equal(log_safe("a\0b", 3, buf, sizeof(buf)), "a\\x00b");
}

static void broken_utf8_becomes_visible(void **state)
{
	(void)state;
	assert_string_equal(safe("\x9b"
				 "2J"),
			    "\\x9b2J");
	assert_string_equal(safe("\xff\xfe"), "\\xff\\xfe");
	assert_string_equal(safe("x\xe5\x89"), "x\\xe5\\x89");
	assert_string_equal(safe("\xc0\xaf"), "\\xc0\\xaf");
	assert_string_equal(safe("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
	assert_string_equal(safe("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_string_equal(safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
	assert_string_equal(safe("\xf5"), "\\xf5");
}

static void long_text_is_cut_between_characters(void **state)
{
	const char *in = "ab\xe5\x89\x8d\ncdefgh";

	(void)state;
	for (size_t sz = 4; sz < 24; sz++) {
		char buf[24];
		size_t len;

		memset(buf, 'Z', sizeof(buf));
		log_safe(in, strlen(in), buf, sz);
		len = strlen(buf);
		assert_true(len < sz);
		if (sz > strlen("ab\xe5\x89\x8d\\ncdefgh"))
			assert_string_equal(buf, "ab\xe5\x89\x8d\\ncdefgh");
		else
			assert_string_equal(buf + len - 3, "...");
		/* The three-byte character is there as a whole or not at all. */
		assert_true(!strchr(buf, 0xe5) || strstr(buf, "\xe5\x89\x8d"));
	}
}

/* What fn writes to standard error. */
static const char *written(void (*fn)(void))
{
	static char buf[8192];
	int fds[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_ok(pipe(fds));
	assert_true(saved >= 0 && dup2(fds[1], STDERR_FILENO) >= 0);
	fn();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(fds[1]);
	n = read(fds[0], buf, sizeof(buf) - 1);
	close(fds[0]);
	assert_true(n >= 0);
	buf[n] = '\0';
	return buf;
}

static void say_errors(void)
{
	errno = EAGAIN;
	assert_err(log_err(-ESRCH, "cannot attach to PID %d", 123), ESRCH);
	assert_err(log_fail(-EINVAL, "bad name '%s'", "a\nb\033[2J"), EINVAL);
	log_hint("try '%s'", "x");
	log_warn("%d events lost", 7);
	assert_int_equal(errno, EAGAIN);
}

static void errors_are_one_line_each(void **state)
{
	(void)state;
	assert_string_equal(written(say_errors),
			    "acltap: cannot attach to PID 123: No such process\n"
			    "acltap: bad name 'a\\nb\\x1b[2J'\n"
			    "hint: try 'x'\n"
			    "acltap: warning: 7 events lost\n");
}

static void say_levels(void)
{
	log_info("info");
	log_verbose("verbose");
	log_status("status"); /* a pipe is no terminal: never shown */
}

static void levels_choose_what_is_shown(void **state)
{
	(void)state;
	assert_string_equal(written(say_levels), "acltap: info\n");
	log_set_level(LOG_QUIET);
	assert_string_equal(written(say_levels), "");
	log_set_level(LOG_VERBOSE);
	assert_true(log_is_verbose());
	assert_string_equal(written(say_levels), "acltap: info\nacltap: verbose\n");
	log_set_level(LOG_NORMAL);
}

static void say_progress(void)
{
	log_status("%d events", 1);
	log_status("2 events\n");
	log_info("done");
	log_info("after");
}

static void a_message_replaces_the_status_line_of_a_terminal(void **state)
{
	/* A terminal makes \r\n of \n. */
	static const char want[] = "\r\033[K1 events\r\033[K2 events\\n\r\033[Kacltap: done\r\n"
				   "acltap: after\r\n";
	char buf[256];
	int pty = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO), tty;
	size_t n = 0;

	(void)state;
	assert_true(pty >= 0 && saved >= 0);
	assert_ok(grantpt(pty) || unlockpt(pty));
	tty = open(ptsname(pty), O_RDWR | O_NOCTTY);
	assert_true(tty >= 0 && dup2(tty, STDERR_FILENO) >= 0);
	say_progress();
	log_set_level(LOG_QUIET);
	say_progress();
	log_set_level(LOG_NORMAL);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	/* The kernel hands over what was written bit by bit. */
	while (n < sizeof(want) - 1) {
		ssize_t got = read(pty, buf + n, sizeof(buf) - 1 - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	buf[n] = '\0';
	assert_string_equal(buf, want);
	close(saved);
	close(tty);
	close(pty);
}

static void say_long(void)
{
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_err(-ENOSPC, "%s", text);
	memset(text, '\1', sizeof(text) - 1);
	log_err(-ENOSPC, "%s", text);
}

static void a_long_message_keeps_its_reason(void **state)
{
	const char *out = written(say_long), *nl = strchr(out, '\n');
	const char *tail = "...: No space left on device\n";

	(void)state;
	assert_non_null(nl);
	assert_memory_equal(nl + 1 - strlen(tail), tail, strlen(tail));
	assert_string_equal(out + strlen(out) - strlen(tail), tail);
	assert_ptr_equal(strchr(nl + 1, '\n'), out + strlen(out) - 1);
}

static void kernel_only_errors_have_words(void **state)
{
	char b[LOG_ERROR_MAX];

	(void)state;
	assert_string_equal(log_error_text(-ENOENT, b), "No such file or directory");
	assert_string_equal(log_error_text(ENOENT, b), "No such file or directory");
	assert_non_null(strstr(log_error_text(-524, b), "524"));
	assert_null(strstr(b, "Unknown"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_and_utf8_stay),
		cmocka_unit_test(what_a_terminal_obeys_becomes_visible),
		cmocka_unit_test(broken_utf8_becomes_visible),
		cmocka_unit_test(long_text_is_cut_between_characters),
		cmocka_unit_test(errors_are_one_line_each),
		cmocka_unit_test(levels_choose_what_is_shown),
		cmocka_unit_test(a_message_replaces_the_status_line_of_a_terminal),
		cmocka_unit_test(a_long_message_keeps_its_reason),
		cmocka_unit_test(kernel_only_errors_have_words),
	};

	return RUN(tests);
}
