/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bad-pointer: writes to an address that is not mapped. */
#include <stdint.h>

int main(void)
{
	volatile uintptr_t nowhere = 8;

	*(int *)nowhere = 1;
	return 0;
}
