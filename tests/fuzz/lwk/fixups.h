/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FUZZ_LWK_FIXUPS_H
#define FUZZ_LWK_FIXUPS_H

/*
 * From now on a fault of this process's at a FIXUP() goes on there; any other one ends the fuzzer.
 */
void fixups_follow(void);

#endif
