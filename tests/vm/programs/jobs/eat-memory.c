/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eat-memory: uses more and more memory until it is killed. */
#include <string.h>
#include <sys/mman.h>

#define STEP (8UL << 20)

int main(void)
{
	for (;;) {
		void *memory = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		if (memory == MAP_FAILED)
			return 3;
		memset(memory, 1, STEP);
	}
}
