// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/library/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct library library;

static const char *const names[N_FUNCTIONS] = {
	[TYPE_SIZE] = "PMPI_Type_size",
	[TYPE_GET_EXTENT] = "PMPI_Type_get_extent",
	[TYPE_GET_TRUE_EXTENT] = "PMPI_Type_get_true_extent",
	[COMM_GROUP] = "PMPI_Comm_group",
	[COMM_REMOTE_GROUP] = "PMPI_Comm_remote_group",
	[COMM_TEST_INTER] = "PMPI_Comm_test_inter",
	[COMM_SIZE] = "PMPI_Comm_size",
	[COMM_RANK] = "PMPI_Comm_rank",
	[COMM_DUP] = "PMPI_Comm_dup",
	[COMM_FREE] = "PMPI_Comm_free",
	[COMM_SPLIT] = "PMPI_Comm_split",
	[COMM_GET_PARENT] = "PMPI_Comm_get_parent",
	[GROUP_SIZE] = "PMPI_Group_size",
	[GROUP_TRANSLATE_RANKS] = "PMPI_Group_translate_ranks",
	[GROUP_FREE] = "PMPI_Group_free",
	[WIN_GET_GROUP] = "PMPI_Win_get_group",
	[TOPO_TEST] = "PMPI_Topo_test",
	[CARTDIM_GET] = "PMPI_Cartdim_get",
	[DIST_GRAPH_NEIGHBORS_COUNT] = "PMPI_Dist_graph_neighbors_count",
	[SEND] = "PMPI_Send",
	[RECV] = "PMPI_Recv",
	[ISEND] = "PMPI_Isend",
	[IRECV] = "PMPI_Irecv",
	[WAITALL] = "PMPI_Waitall",
	[BARRIER] = "PMPI_Barrier",
	[BCAST] = "PMPI_Bcast",
	[REDUCE] = "PMPI_Reduce",
	[ALLREDUCE] = "PMPI_Allreduce",
	[REDUCE_SCATTER] = "PMPI_Reduce_scatter",
	[REDUCE_LOCAL] = "PMPI_Reduce_local",
	[OP_COMMUTATIVE] = "PMPI_Op_commutative",
	[GATHER] = "PMPI_Gather",
	[GATHERV] = "PMPI_Gatherv",
	[ALLGATHER] = "PMPI_Allgather",
	[ALLGATHERV] = "PMPI_Allgatherv",
	[PACK] = "PMPI_Pack",
	[UNPACK] = "PMPI_Unpack",
};
static void *functions[N_FUNCTIONS];

/*
 * A search of the libraries that only part of the program sees, such as those of a Python module.
 */
struct search {
	const char *name;
	void *found;
};

static int search_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	const char *base = strrchr(info->dlpi_name, '/');
	void *handle;

	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libmpi", 6) != 0)
		return 0;
	handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return 0;
	search->found = dlsym(handle, search->name);
	dlclose(handle);
	return search->found != NULL;
}

static void *search_from(void *where, const char *name)
{
	struct search search = { .name = name, .found = dlsym(where, name) };

	if (!search.found)
		dl_iterate_phdr(search_library, &search);
	return search.found;
}

void *library_next(const char *name)
{
	return search_from(RTLD_NEXT, name);
}

/* The linker may have put a copy of a variable into the program, where a search begins. */
static uint64_t variable(const char *name)
{
	return (uint64_t)search_from(RTLD_DEFAULT, name);
}

bool library_find(void)
{
	uint64_t world = variable("ompi_mpi_comm_world");

	for (int i = 0; i < N_FUNCTIONS; i++)
		functions[i] = library_next(names[i]);
	if (!functions[COMM_GROUP] || !functions[TYPE_SIZE])
		return false;
	/* The numbers are those of MPICH's common ABI; Intel MPI and MVAPICH have them too. */
	library = (struct library){
		.mpich = !world,
		.world = world ? world : 0x44000000,
		.in_place = world ? 1 : UINT64_MAX,
		.byte = world ? variable("ompi_mpi_byte") : 0x4c00010d,
		.integer = world ? variable("ompi_mpi_int") : 0x4c000405,
		.ignore_status = world ? 0 : 1,
		.least = world ? variable("ompi_mpi_op_min") : 0x58000002,
		.no_communicator = world ? variable("ompi_mpi_comm_null") : 0x04000000,
	};
	return true;
}

int library_call(enum library_function function, const uint64_t *a)
{
	int (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
		    uint64_t, uint64_t, uint64_t, uint64_t) = functions[function];

	return call ? call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11])
		    : -1;
}

int64_t library_type_size(uint64_t type)
{
	int size = 0;

	type = library_handle(type);
	/* A basic type of MPICH has its size in its number. */
	if (library.mpich && (type & 0xffff0000) == 0x4c000000)
		return type >> 8 & 0xff;
	return LIBRARY_CALL(TYPE_SIZE, type, &size) == 0 && size >= 0 ? size : -1;
}

int library_bytes(uint64_t count, uint64_t type)
{
	int64_t size = library_type_size(type), n = (int)count;

	return size < 0 || n < 0 || size * n > LIBRARY_BYTES_MAX ? -1 : (int)(size * n);
}

bool library_type_is_dense(uint64_t type)
{
	int64_t size = library_type_size(type), least = 0, extent = 0;

	if (size <= 0 || LIBRARY_CALL(TYPE_GET_EXTENT, type, &least, &extent) != 0 || least ||
	    extent != size)
		return false;
	return LIBRARY_CALL(TYPE_GET_TRUE_EXTENT, type, &least, &extent) == 0 && !least &&
	       extent == size;
}
