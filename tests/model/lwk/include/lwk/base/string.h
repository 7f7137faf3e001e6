/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In place of the LWK's header. */
#ifndef MODEL_LWK_STRING_H
#define MODEL_LWK_STRING_H

#include "explorer/explorer.h"

#define memset model_memset
#define memcpy model_memcpy

#endif
