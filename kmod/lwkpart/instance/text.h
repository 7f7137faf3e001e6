/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LWKPART_TEXT_H
#define LWKPART_TEXT_H

#include <linux/types.h>

/*
 * Copies text that an LWK wrote, at most size-1 bytes. The copy is terminated; '?' stands for
 * each byte that is not printable.
 */
void copy_lwk_text(char *to, const char *from, size_t size);

#endif
