/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FUZZ_LWK_FIXUPS_H
#define FUZZ_LWK_FIXUPS_H

/*
 * Has faults of this process at a FIXUP() go on there from now on; any other fault ends the fuzzer.
 */
void fixups_follow(void);

#endif
