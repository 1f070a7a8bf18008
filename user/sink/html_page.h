/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page without data: sink/report/ in one piece, made by scripts/embed-report.sh. The data goes
 * between head and tail.
 */
#ifndef ACLTAP_SINK_HTML_PAGE_H
#define ACLTAP_SINK_HTML_PAGE_H

#include <stddef.h>

extern const char html_page_head[], html_page_tail[];
extern const size_t html_page_head_size, html_page_tail_size;

#endif
