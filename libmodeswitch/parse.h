/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PARSE_H
#define PARSE_H

#include "modeswitch.h"

#define FORMAT_SIZE 32
/* "448 MB"; exact, in the largest unit that has no fraction. Returns 'text'. */
const char *format_size(uint64_t bytes, char text[FORMAT_SIZE]);

#endif
