/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads topologies with hwloc. Each function returns 0, or -1 with the error set; after 0 the caller
 * frees *out with hwloc_topology_destroy().
 */
#ifndef TOPOLOGY_LOAD_H
#define TOPOLOGY_LOAD_H

#include <hwloc.h>

#include "modeswitch/error.h"

/* Loads the topology of this machine as Linux shows it now. */
int topology_load_live(hwloc_topology_t *out, struct ms_error *err);

/* Loads an hwloc XML file that only root can have written. */
int topology_load_own(const char *path, hwloc_topology_t *out, struct ms_error *err);

/* Loads an hwloc XML file that anybody may have written, after a child process could load it. */
int topology_load_xml(const char *path, hwloc_topology_t *out, struct ms_error *err);

#endif
