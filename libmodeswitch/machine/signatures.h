/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells whether this kernel takes any module of root's, or only signed ones. */
#ifndef SIGNATURES_H
#define SIGNATURES_H

#include <stdbool.h>

/* True when the kernel refuses modules that are not signed with a key that it knows. */
bool signatures_wanted(void);

/* The text tells the administrator what to do where signatures are wanted. */
#define SIGNATURES_REMEDY                                                                          \
	"this kernel loads signed modules only (Secure Boot, lockdown= or module.sig_enforce): "   \
	"sign the module with a key that it knows, see slurm-lwk-admin(7)"

#endif
