// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/trapnr.h>

static int __used try = X86_TRAP_NMI;
