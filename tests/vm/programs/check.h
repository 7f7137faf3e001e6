/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CHECK(condition): ends the calling test, which returns int, when it does not hold. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <stdio.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: wrong: %s (errno %d)\n", __FILE__, __LINE__, #condition,    \
			       errno);                                                             \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
