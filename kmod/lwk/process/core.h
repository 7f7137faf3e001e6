/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a core file (core(5)), which the proxy writes. */
#ifndef LWK_PROCESS_CORE_H
#define LWK_PROCESS_CORE_H

/*
 * Tells the proxy of registers, mappings and pages, if the signal that ends this process makes a
 * core file and the proxy wants one. No thread returns to user mode any more.
 */
void core_tell(int signal);

#endif
