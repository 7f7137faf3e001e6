// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the user ABI of lwkpart.ko, without libmodeswitch: every ioctl with good and with bad
 * arguments, the life of an instance, LWKs that panic or hang, and what is left when the program
 * that lent CPUs and memory is killed.
 *
 *	lwkpart-abi IMAGE
 *
 * IMAGE is the bundled LWK. The program needs root, the module loaded with nothing lent, two CPUs
 * beside CPU 0, and about 512 MB that Linux can spare. It prints TAP, and exits with status 0 when
 * every check passed. It leaves the machine as it was, also after a failure.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

static void undo_at_exit(void)
{
	if (device >= 0)
		undo();
}

int main(int argc, char **argv)
{
	char before[300], after[300], *image;
	size_t size;

	if (argc != 2) {
		fprintf(stderr, "usage: lwkpart-abi IMAGE\n");
		return 2;
	}
	device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		bail_out("cannot open " LWKPART_DEVICE "; is the module loaded?");
	if (get_ledger() || get_info().instances) {
		device = -1;
		bail_out("something is lent already: give it back first");
	}
	atexit(undo_at_exit);
	image = read_image(argv[1], &size);
	choose_cpus();
	read_machine(before, sizeof(before));

	check(get_info().abi_version == LWKPART_ABI_VERSION, "the module speaks this ABI");
	test_permission();
	test_commands();
	test_bad_lend();
	test_bad_instance();
	test_instances();
	test_watching();
	test_confine();
	test_move();
	test_cpus();
	test_contig();
	test_block();
	test_ledger();
	test_doorbell_cpu();
	test_life(image, size);
	test_joined(image, size);
	test_beside(image, size);
	test_bad_lwks();
	test_killed(image, size);

	read_machine(after, sizeof(after));
	if (!check(!strcmp(before, after), "Linux has all its CPUs and memory as before"))
		printf("# before: %s# after: %s", before, after);
	free(image);
	printf("1..%u\n", checks);
	return failures ? 1 : 0;
}
