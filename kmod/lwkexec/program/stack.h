/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first stack of a program, as the x86-64 psABI (section 3.4.1) describes it. */
#ifndef LWKEXEC_STACK_H
#define LWKEXEC_STACK_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/shared/layout.h"
#include "lwkexec/program/program.h"

/*
 * The end of the stack. The LWK makes pages of 4 KB above the last multiple of 2 MB, so that a
 * program that needs little of its stack need not wait until 2 MB are zero.
 */
#define STACK_TOP (LWK_USER_END - (2UL << 20) + (256UL << 10))

/* The stack's size in bytes, whole pages, by the limit of the proxy. */
uint64_t stack_size(void);
/*
 * Writes arguments, environment and auxiliary vector to the stack of 'size' bytes, which must be
 * mapped. Returns the stack pointer. Fails the proxy when they have no room.
 */
uint64_t stack_build(const struct program *program, char **envp, uint64_t size);
/* The auxiliary vector that stack_build() has written last. */
const Elf64_auxv_t *stack_auxv(size_t *size);

#endif
