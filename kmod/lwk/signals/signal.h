/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signal numbers and codes of Linux on x86-64, as programs know them. */
#ifndef LWK_SIGNAL_H
#define LWK_SIGNAL_H

enum {
	SIGILL = 4,
	SIGTRAP = 5,
	SIGBUS = 7,
	SIGFPE = 8,
	SIGKILL = 9,
	SIGSEGV = 11,
	SIGCHLD = 17,
	SIGCONT = 18,
	SIGSTOP = 19,
	SIGTSTP = 20,
	SIGTTIN = 21,
	SIGTTOU = 22,
	SIGURG = 23,
	SIGWINCH = 28,
	SIGSYS = 31,
	SIGRTMIN = 32,
};

#define SIG_DFL 0
#define SIG_IGN 1
#define SIGNAL_BIT(signal) (1UL << ((signal)-1))
#define SIGNALS_UNBLOCKABLE (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))

enum {
	ILL_ILLOPN = 2,
	FPE_INTDIV = 1,
	FPE_FLTINV = 7,
	BUS_ADRALN = 1,
	BUS_ADRERR = 2,
	TRAP_TRACE = 2
};
enum { SI_USER = 0, SI_KERNEL = 0x80, SI_TIMER = -2, SI_TKILL = -6 };
enum { SEGV_MAPERR = 1, SEGV_ACCERR = 2 };

#endif
