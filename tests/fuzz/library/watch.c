// SPDX-License-Identifier: GPL-2.0-or-later
/* The status area and the console, which an LWK writes, as `lwkctl` and others read them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <json-c/json.h>

#include "driver/driver.h"
#include "driver/lwkpart/lwkpart.h"
#include "driver/lwkpart/usage.h"
#include "fuzz.h"
#include "modeswitch/counters.h"
#include "modeswitch/watch.h"

#define CPUS 3

/* ---- lwkpart.ko, which copies what the LWK has written ---- */

static struct input input;
static unsigned calls;

static int get_usage(struct lwk_usage *argument)
{
	uint32_t capacity = argument->capacity;
	struct lwk_status *status = (struct lwk_status *)(uintptr_t)argument->buffer;

	argument->length = LWK_STATUS_BYTES(CPUS);
	argument->cpus = CPUS;
	argument->tsc = take_number(&input, 8);
	argument->tsc_khz = take_number(&input, 4);
	if (capacity < argument->length)
		return -ENOSPC;
	take_bytes(&input, status, argument->length);
	/* Without the number there is nothing to see. */
	status->magic = LWK_SHARED_MAGIC;
	return 0;
}

static int get_console(struct lwkpart_kmsg *argument)
{
	uint32_t length = take_byte(&input);

	argument->length = length < argument->capacity ? length : argument->capacity;
	take_bytes(&input, (void *)(uintptr_t)argument->buffer, argument->length);
	argument->position += argument->length;
	return 0;
}

static int get_details(struct lwk_instance_details *details)
{
	take_bytes(&input, details, sizeof(*details));
	return 0;
}

/* The driver calls this one, not the C library's. */
int ioctl(int fd, unsigned long code, ...)
{
	va_list args;
	void *argument;
	int error;

	va_start(args, code);
	argument = va_arg(args, void *);
	va_end(args);
	switch (code) {
	case LWK_GET_USAGE:
		error = get_usage(argument);
		break;
	case LWK_KMSG:
	case LWKPART_KMSG:
		/* A console does not grow for ever. */
		if (++calls > 20)
			((struct lwkpart_kmsg *)argument)->length = 0;
		error = calls > 20 ? 0 : get_console(argument);
		break;
	case LWK_GET_DETAILS:
		error = get_details(argument);
		break;
	case LWK_COUNTERS:
		take_bytes(&input, argument, sizeof(struct lwk_counters));
		/* lwkpart.ko holds the list itself. */
		((struct lwk_counters *)argument)->count %= LWK_MAX_COUNTERS + 1;
		error = 0;
		break;
	default:
		error = -ENOTTY;
	}
	errno = -error;
	return error ? -1 : 0;
}

/* ---- the readers ---- */

static void read_usage(void)
{
	struct ms_instance_info info = { 0 };
	struct ms_usage usage = { 0 };
	struct json_object *object;

	if (watching_lwkpart.usage(0, &usage) != 0)
		return;
	must(usage.n_cpus == CPUS && usage.memory_used <= usage.memory);
	must(usage.memory_peak <= usage.memory && usage.kernel_used <= usage.kernel_memory);
	for (size_t i = 0; i < usage.n_cpus; i++)
		must(usage.cpus[i].doing <= MS_CPU_STOPPED);
	watching_lwkpart.info(0, &info);
	object = ms_usage_to_json(&usage);
	must(json_object_to_json_string(object));
	json_object_put(object);
	ms_usage_release(&usage);
}

static void read_counters(void)
{
	struct ms_counters counters = { 0 };

	if (watching_lwkpart.read_counters(0, &counters) != 0)
		return;
	must(counters.n <= MS_MAX_COUNTERS);
	for (size_t i = 0; i < counters.n; i++)
		must(strlen(counters.names[i]) < sizeof(counters.names[i]));
	ms_counters_release(&counters);
}

static void read_console(void)
{
	char *text = malloc(300);
	uint64_t position = 0;
	ssize_t got = watching_lwkpart.console(0, &position, text, 300);

	must(got <= 300);
	driver_console_tail(&driver_lwkpart, 0, 0, text, 300);
	must(strnlen(text, 300) < 300);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = (struct input){ data, size };
	calls = 0;
	switch (take_byte(&input) % 3) {
	case 0:
		read_usage();
		break;
	case 1:
		read_counters();
		break;
	case 2:
		read_console();
		break;
	}
	return 0;
}
