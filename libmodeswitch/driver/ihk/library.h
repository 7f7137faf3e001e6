/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IHK's library, which is loaded when it is needed: sites without McKernel do not have it.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "driver/ihk/ihklib.h"
#include "modeswitch/error.h"

/* The calls that the library must have. */
#define IHK_CALLS(call)                                                                            \
	call(reserve_cpu) call(get_num_reserved_cpus) call(query_cpu) call(release_cpu) call(      \
		reserve_mem_conf) call(reserve_mem) call(get_num_reserved_mem_chunks)              \
		call(query_mem) call(release_mem) call(create_os) call(get_num_os_instances) call( \
			get_os_instances) call(destroy_os) call(os_assign_cpu)                     \
			call(os_get_num_assigned_cpus) call(os_query_cpu) call(                    \
				os_release_cpu) call(os_set_ikc_map) call(os_assign_mem)           \
				call(os_get_num_assigned_mem_chunks) call(os_query_mem) call(      \
					os_release_mem) call(os_load) call(os_kargs) call(os_boot) \
					call(os_shutdown) call(os_get_status)                      \
						call(os_get_kmsg_size) call(os_kmsg)               \
							call(os_freeze) call(os_thaw)              \
								call(os_makedumpfile)

#define IHK_DECLARE(name) __typeof__(&ihk_##name) name;
struct ihk_library {
	IHK_CALLS(IHK_DECLARE)
	/* Beyond IHK's calls; NULL: the library does not have it. */
	IHK_DECLARE(os_set_owner)
};
#undef IHK_DECLARE

/* The name that the dynamic linker looks for when lwk.conf names no library. */
#define IHK_LIBRARY "libihk.so"

/*
 * Loads the library of that absolute path, which only root may have made, or IHK_LIBRARY when it is
 * "". Returns the same for the same path, as long as the process lives; NULL with *err.
 */
const struct ihk_library *ihk_library_load(const char *path, struct ms_error *err);

#endif
