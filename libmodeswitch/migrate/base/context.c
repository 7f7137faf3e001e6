// SPDX-License-Identifier: GPL-2.0-or-later
#include "migrate/base/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"

#define HEAR_NS 200000000LL

bool migration_stopped(struct migration *migration)
{
	const struct ms_migrate_request *request = migration->request;

	migration->deadline = clock_ms() + migration->patience_ms;
	if (!migration->state.stopped && request->stop && request->stop(request->context))
		migration->state.stopped = true;
	return migration->state.stopped;
}

int migration_call(struct migration *migration, unsigned long command, void *argument)
{
	bool waits = !migration->every_process && !migration->selections;
	int ret;

	do
		ret = ioctl(migration->device, command, argument);
	while (ret < 0 && errno == EBUSY && waits && !migration_stopped(migration));
	return ret;
}

void migration_note(struct migration *migration, const char *format, ...)
{
	char *notes = migration->state.notes;
	size_t length = strlen(notes), room = sizeof(migration->state.notes) - length;
	va_list args;

	if (length && room > 1) {
		notes[length++] = '\n';
		notes[length] = '\0';
		room--;
	}
	va_start(args, format);
	vsnprintf(notes + length, room, format, args);
	va_end(args);
}

void migration_take_times(struct migration *migration)
{
	migration->state.seconds = (clock_ns() - migration->start_ns) / 1e9;
	migration->state.cpu_seconds = (thread_cpu_ns() - migration->cpu_start_ns) / 1e9;
}

void migration_tell(struct migration *migration)
{
	int64_t now = clock_ns();

	if (!migration->request->hear || now - migration->heard_ns < HEAR_NS)
		return;
	migration->heard_ns = now;
	migration_take_times(migration);
	migration->request->hear(&migration->state, migration->request->context);
}
