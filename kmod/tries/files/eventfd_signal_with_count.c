// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/eventfd.h>

static void __used try(struct eventfd_ctx *eventfd)
{
	eventfd_signal(eventfd, 1);
}
