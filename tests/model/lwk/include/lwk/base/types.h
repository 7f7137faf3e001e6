/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK's header; accesses that it makes by volatile are known as atomic to the compiler. */
#ifndef MODEL_LWK_TYPES_H
#define MODEL_LWK_TYPES_H

#include_next "lwk/base/types.h"

#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

#endif
