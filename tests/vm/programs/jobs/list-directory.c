/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list-directory DIR: prints the names in DIR in the order of the kernel. */
#include <dirent.h>
#include <err.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : ".";
	DIR *directory = opendir(name);
	struct dirent *entry;

	if (!directory)
		err(1, "%s", name);
	while ((entry = readdir(directory)))
		puts(entry->d_name);
	closedir(directory);
	return 0;
}
