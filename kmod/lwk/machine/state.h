/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a CPU that Linux leaves as it used them. */
#ifndef LWK_MACHINE_STATE_H
#define LWK_MACHINE_STATE_H

/* Sets these registers for the LWK. The CPU must have its IDT. */
void state_set(void);
/* Makes this CPU forget what earlier programs have taught its branch predictors and buffers. */
void state_forget(void);
/* Lets programs use atomic instructions across two cache lines. */
void state_allow_split_locks(void);

#endif
