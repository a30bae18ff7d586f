// SPDX-License-Identifier: LGPL-3.0-or-later
#include "progress.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "loop.h"

#define ELSEWHERE_NS UINT64_C(1000000000)
#define TERMINAL_NS  UINT64_C(200000000)

static bool shown, terminal, on_screen;
static uint64_t last;

void progress_init(enum progress progress)
{
	terminal = isatty(STDERR_FILENO);
	shown = progress == PROGRESS_ON ||
		(progress == PROGRESS_AUTO && terminal);
}

void progress_show(const char *format, ...)
{
	uint64_t now = sw_now();
	va_list arguments;

	if (!shown || now - last < (terminal ? TERMINAL_NS : ELSEWHERE_NS))
		return;
	last = now;
	if (terminal)
		fputs("\r\033[K", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (!terminal)
		fputc('\n', stderr);
	on_screen = terminal;
	fflush(stderr);
}

void progress_clear(void)
{
	if (on_screen)
		fputs("\r\033[K", stderr);
	on_screen = false;
	fflush(stderr);
}
