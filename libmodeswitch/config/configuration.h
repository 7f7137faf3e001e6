/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads lwk.conf; modeswitch/config.h has the public calls. */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stdio.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/* Does ms_config_load() for an open file whose owner was checked. 'path' is for messages. */
int config_parse(FILE *file, const char *path, struct ms_config **out, struct ms_error *err);

#endif
