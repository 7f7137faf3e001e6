/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/gone.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "abi/control/kmsg.h"
#include "abi/device/watch.h"
#include "abi/shared/state.h"
#include "lwkexec/base/fail.h"

#define CONSOLE_LINES 10

static const char *const states[] = {
	[LWK_STATE_CREATED] = "not booted", [LWK_STATE_ASSIGNED] = "not booted",
	[LWK_STATE_LOADED] = "not booted",  [LWK_STATE_BOOTING] = "booting",
	[LWK_STATE_RUNNING] = "running",    [LWK_STATE_FREEZING] = "being frozen",
	[LWK_STATE_FROZEN] = "frozen",	    [LWK_STATE_SHUTDOWN] = "shut down",
	[LWK_STATE_PANIC] = "in panic",	    [LWK_STATE_HUNG] = "hung",
};

static void print_console_tail(int device)
{
	char text[64 * 1024];
	struct lwkpart_kmsg kmsg = { .buffer = (uintptr_t)text, .capacity = sizeof(text) - 1 };
	const char *from = text;
	unsigned lines = 0;

	if (ioctl(device, LWK_KMSG, &kmsg) || !kmsg.length || kmsg.length >= sizeof(text))
		return;
	text[kmsg.length] = '\0';
	for (const char *at = text + kmsg.length - 1; at > text && lines < CONSOLE_LINES; at--) {
		if (at[-1] != '\n')
			continue;
		from = at;
		lines++;
	}
	fprintf(stderr, "lwkexec: the LWK's console ends with:\n%s%s", from,
		text[kmsg.length - 1] == '\n' ? "" : "\n");
}

void fail_with_state(int device)
{
	struct lwk_instance_status status = { 0 };

	if (ioctl(device, LWK_GET_STATUS, &status))
		fail(EXIT_LWK, "the LWK does not answer: %s", strerror(errno));
	if (status.state == LWK_STATE_PANIC || status.state == LWK_STATE_HUNG)
		print_console_tail(device);
	status.message[sizeof(status.message) - 1] = '\0';
	fail(EXIT_LWK, "the LWK is %s%s%s; tell your administrator if you did not expect this",
	     status.state < LWK_STATE_COUNT ? states[status.state] : "in an unknown state",
	     status.message[0] ? ": " : "", status.message);
}
