# SPDX-License-Identifier: GPL-2.0-or-later
# Prints a profile of 1024 ranks on a torus of 32 x 32. 389 and 1024 have no common divisor, so a rank's
# number tells nothing of its place.
function number(x, y) { return ((x + 32) % 32 + (y + 32) % 32 * 32) * 389 % 1024 }
BEGIN {
	print "{\"version\":1,\"job\":\"torus\",\"ranks\":1024,\"parts\":["
	for (x = 0; x < 32; x++)
		for (y = 0; y < 32; y++)
			printf "%s{\"rank\":%d,\"seconds\":1,\"sent\":[[%d,4,9,9000,9],[%d,4,9,9000,9],[%d,4,9,9000,9],[%d,4,9,9000,9]]}",
				x + y ? ",\n" : "", number(x, y), number(x + 1, y), number(x - 1, y),
				number(x, y + 1), number(x, y - 1)
	print "]}"
}
