/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Console text, read by Linux from a ring in shared memory; and panic. */
#include "lwk/lwk.h"

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

/* %s %c %d %u %x, with ll and a zero-padded width. Returns the length. */
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

/* One line: time since boot of the LWK, CPU, text. The format ends without newline. */
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

/* The other CPUs see the state at their next way to user mode; Linux looks at it, too. */
static void tell_everybody(void)
{
	for (u32 i = 0; i < boot->n_cpus; i++)
		apic_send(boot->cpus[i].apicid, LWK_DOORBELL_VECTOR);
	if (boot->cpus[0].doorbell_vector)
		apic_send(boot->cpus[0].doorbell_apicid, boot->cpus[0].doorbell_vector);
}

/* What a debugger needs to walk the stack from here. */
#define SAVE(reg) "movq %%" #reg ", %c[" #reg "](%[frame])\n\t"
#define OFFSET(reg) [reg] "i"(offsetof(struct frame, reg))

/* The LWK's own fault: says why, and stops the instance. The machine and Linux go on. */
void panic(const char *format, ...)
{
	static u32 panicked;
	char message[sizeof(status->message)] = "";
	struct frame here = { .cs = KERNEL_CS, .ss = KERNEL_DS, .rflags = RFLAGS_FIXED };
	va_list args;

	__asm__ volatile(SAVE(r15) SAVE(r14) SAVE(r13) SAVE(r12) SAVE(rbp) SAVE(rbx)
				 SAVE(rsp) "leaq 0(%%rip), %%rax; movq %%rax, %c[rip](%[frame])" ::
					 [frame] "D"(&here),
			 OFFSET(r15), OFFSET(r14), OFFSET(r13), OFFSET(r12), OFFSET(rbp),
			 OFFSET(rbx), OFFSET(rsp), OFFSET(rip)
			 : "rax", "memory");
	registers_save(this_slot(), &here);
	/* The first one has the cause. */
	if (__atomic_exchange_n(&panicked, 1, __ATOMIC_ACQ_REL))
		halt_forever();
	status->panic_cpu = this_slot()->cpu->index;
	va_start(args, format);
	format_text(message, sizeof(message), format, args);
	va_end(args);
	/* The lock may be ours, or its holder's fault; a torn line is better than none. */
	console_lock.locked = 0;
	print("PANIC: %s", message);
	memcpy(status->message, message, sizeof(message));
	status->panic_ns = clock_realtime();
	STORE_RELEASE(status->state, LWK_STATE_PANIC);
	tell_everybody();
	halt_forever();
}
