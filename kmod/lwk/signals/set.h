/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of signals: bit s-1 stands for signal s. */
#ifndef LWK_SIGNALS_SET_H
#define LWK_SIGNALS_SET_H

#include <linux/signal.h>

#define SIGNALS 64
#define SIGNAL_BIT(signal) (1UL << ((signal) - 1))
#define SIGNALS_UNBLOCKABLE (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))
/* Linux never passes these on, unless there is a handler: they stop the proxy. */
#define SIGNALS_THAT_STOP                                                                          \
	(SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))

#endif
