/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types and small macros that every file of the LWK uses. */
#ifndef LWK_BASE_TYPES_H
#define LWK_BASE_TYPES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64; /* unsigned long long, as in the ABI headers: one format prints both */
typedef __s64 s64;
typedef int32_t s32;

#define PAGE_SIZE 4096UL
#define LARGE_SIZE (2UL << 20)
#define ALIGN_DOWN(x, a) ((x) & ~((a) - 1))
#define ALIGN_UP(x, a) (((x) + (a) - 1) & ~((a) - 1))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Access memory that others change: each macro is one access, and they stay in their order. */
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define LOAD_ACQUIRE(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE_RELEASE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELEASE)

#endif
