/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the module's header. */
#ifndef FUZZ_LWKPART_CPU_H
#define FUZZ_LWKPART_CPU_H

#define cpu_stub_address() 0xffffffffc0000000UL

#endif
