/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spawn: a rank spawns two others, and sends each of them 7 messages of 8 bytes. */
#include <mpi.h>

#define CHILDREN 2
#define MESSAGES 7

int main(int argc, char **argv)
{
	MPI_Comm parent, children;
	long value = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &children, MPI_ERRCODES_IGNORE);
	for (int i = 0; i < MESSAGES; i++) {
		for (int child = 0; parent == MPI_COMM_NULL && child < CHILDREN; child++)
			MPI_Send(&value, 1, MPI_LONG, child, 0, children);
		if (parent != MPI_COMM_NULL)
			MPI_Recv(&value, 1, MPI_LONG, 0, 0, parent, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
