/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory policies (set_mempolicy(2), mbind(2)) that hold new pages on the nodes to be left.
 */
#ifndef POLICIES_H
#define POLICIES_H

struct migration;

/* Notes in the state how many mappings of the processes have such a policy. */
void policies_note(struct migration *migration);

#endif
