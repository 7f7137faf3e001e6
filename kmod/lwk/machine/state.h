/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a CPU that Linux leaves as it used them. */
#ifndef LWK_MACHINE_STATE_H
#define LWK_MACHINE_STATE_H

/* Sets them as the LWK wants them. The CPU must have its IDT. */
void state_set(void);
/* Has this CPU forget what the programs taught it that ran on it before. */
void state_forget(void);
/* Lets programs use atomic instructions across two cache lines. */
void state_allow_split_locks(void);

#endif
