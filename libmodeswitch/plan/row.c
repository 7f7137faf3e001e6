// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/row.h"

size_t row_choose(const struct memory_block *blocks, const bool *fit, size_t n, size_t wanted,
		  size_t *first)
{
	size_t best = 0, length = 0;

	*first = 0;
	for (size_t i = 0; i < n; i++) {
		bool ends = i + 1 == n || !fit[i + 1] || blocks[i + 1].index != blocks[i].index + 1;

		length = fit[i] ? length + 1 : 0;
		if (!length || !ends)
			continue;
		if (best < wanted ? length > best : length >= wanted && length < best) {
			best = length;
			*first = i + 1 - length;
		}
		length = 0;
	}
	return best < wanted ? best : wanted;
}
