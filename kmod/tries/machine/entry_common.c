// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/entry-common.h>

static int __used try;
