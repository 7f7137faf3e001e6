/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load-library NAME SYMBOL: calls a function of a library that takes one number, with 0. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	double (*function)(double) = library ? (double (*)(double))dlsym(library, argv[2]) : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	printf("%s(0) = %g\n", argv[2], function(0));
	return dlclose(library);
}
