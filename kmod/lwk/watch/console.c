/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/watch/console.h"

#include "abi/shared/console.h"
#include "lwk/base/lock.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/direct_map.h"
#include "lwk/time/clock.h"

static struct lwk_console *console;
static struct spinlock console_lock;

struct text {
	char *buffer;
	size_t size, length;
};

static void put(struct text *text, char c)
{
	if (text->length + 1 < text->size)
		text->buffer[text->length++] = c;
}

static void put_number(struct text *text, u64 value, unsigned int base, int width, bool negative)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		put(text, '-');
	for (int pad = width - n; pad > 0; pad--)
		put(text, '0');
	while (n)
		put(text, digits[--n]);
}

int format_text(char *buffer, size_t size, const char *format, va_list args)
{
	struct text text = { buffer, size, 0 };

	for (; *format; format++) {
		bool is_long = false;
		int width = 0;

		if (*format != '%') {
			put(&text, *format);
			continue;
		}
		format++;
		while (*format >= '0' && *format <= '9')
			width = width * 10 + *format++ - '0';
		for (; *format == 'l'; format++)
			is_long = true;
		switch (*format) {
		case 's':
			for (const char *s = va_arg(args, const char *); *s; s++)
				put(&text, *s);
			break;
		case 'c':
			put(&text, va_arg(args, int));
			break;
		case 'd': {
			s64 value = is_long ? va_arg(args, s64) : va_arg(args, int);

			put_number(&text, value < 0 ? -(u64)value : (u64)value, 10, width,
				   value < 0);
			break;
		}
		case 'u':
		case 'x': {
			u64 value = is_long ? va_arg(args, u64) : va_arg(args, u32);

			put_number(&text, value, *format == 'u' ? 10 : 16, width, false);
			break;
		}
		case '\0':
			format--;
			break;
		default:
			put(&text, *format);
		}
	}
	if (size)
		buffer[text.length] = '\0';
	return text.length;
}

static void write_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		console->text[(console->head + i) % LWK_CONSOLE_BYTES] = text[i];
	STORE_RELEASE(console->head, console->head + length);
}

void console_init(void)
{
	console = phys_to_virt(boot->console);
}

void print(const char *format, ...)
{
	char line[256];
	va_list args;
	u64 us = clock_cycles_to_ns(rdtsc() - boot_tsc) / 1000;
	int n;

	spin_lock(&console_lock);
	va_start(args, format);
	n = format_text(line, sizeof(line) - 1, format, args);
	va_end(args);
	line[n++] = '\n';

	char stamp[32];
	struct text text = { stamp, sizeof(stamp), 0 };

	put(&text, '[');
	put_number(&text, us / 1000000, 10, 0, false);
	put(&text, '.');
	put_number(&text, us % 1000000, 10, 6, false);
	put(&text, ']');
	put(&text, ' ');
	write_text(stamp, text.length);
	write_text(line, n);
	spin_unlock(&console_lock);
}

void console_force_unlock(void)
{
	console_lock.locked = 0;
}
