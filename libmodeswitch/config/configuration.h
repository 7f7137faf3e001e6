/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CONFIGURATION_H
#define CONFIGURATION_H

#include <stdio.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

/* ms_config_load() of an open file whose owner has been checked. 'path' is for messages. */
int config_parse(FILE *file, const char *path, struct ms_config **out, struct ms_error *err);

#endif
