// SPDX-License-Identifier: GPL-2.0-or-later
#include "mpi/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct library library;

static const char *const names[N_FUNCTIONS] = {
	[TYPE_SIZE] = "PMPI_Type_size",
	[COMM_GROUP] = "PMPI_Comm_group",
	[COMM_REMOTE_GROUP] = "PMPI_Comm_remote_group",
	[COMM_TEST_INTER] = "PMPI_Comm_test_inter",
	[COMM_SIZE] = "PMPI_Comm_size",
	[COMM_RANK] = "PMPI_Comm_rank",
	[COMM_DUP] = "PMPI_Comm_dup",
	[COMM_FREE] = "PMPI_Comm_free",
	[GROUP_SIZE] = "PMPI_Group_size",
	[GROUP_TRANSLATE_RANKS] = "PMPI_Group_translate_ranks",
	[GROUP_FREE] = "PMPI_Group_free",
	[WIN_GET_GROUP] = "PMPI_Win_get_group",
	[TOPO_TEST] = "PMPI_Topo_test",
	[CARTDIM_GET] = "PMPI_Cartdim_get",
	[DIST_GRAPH_NEIGHBORS_COUNT] = "PMPI_Dist_graph_neighbors_count",
	[GATHER] = "PMPI_Gather",
	[SEND] = "PMPI_Send",
	[RECV] = "PMPI_Recv",
};
static void *functions[N_FUNCTIONS];

/* A search of the libraries that only part of the program sees, such as those of a Python module. */
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

/* A variable may have been copied into the program, which stands before us. */
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
	};
	return true;
}

int library_call(enum library_function function, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		 uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	int (*call)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
		    uint64_t) = functions[function];

	return call ? call(a, b, c, d, e, f, g, h) : -1;
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
