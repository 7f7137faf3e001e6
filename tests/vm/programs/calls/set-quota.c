// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set-quota DEVICE UID KILOBYTES: limits a user on a file system that is mounted with usrquota. It
 * does what setquota(8) does, whose package the test bed lacks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/quota.h>

int main(int argc, char **argv)
{
	struct dqblk limits = { .dqb_valid = QIF_BLIMITS };

	if (argc != 4) {
		fputs("usage: set-quota DEVICE UID KILOBYTES\n", stderr);
		return 2;
	}
	/* Quota blocks are 1 KB, whatever the file system's are. */
	limits.dqb_bhardlimit = limits.dqb_bsoftlimit = strtoul(argv[3], NULL, 10);
	if (quotactl(QCMD(Q_SETQUOTA, USRQUOTA), argv[1], atoi(argv[2]), (caddr_t)&limits)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
