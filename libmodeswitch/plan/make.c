// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/make.h"

#include <stdlib.h>

#include "machine/topology.h"
#include "machine/topology_load.h"
#include "modeswitch/job.h"
#include "plan/plan.h"
#include "plan/supply.h"
#include "store/state.h"

/* A journal that cannot be listed may stand for something that is lent. */
static bool anything_lent(void)
{
	struct ms_error ignored;
	uint32_t *ids;
	ssize_t n = state_jobs(".journal", &ids, &ignored);

	free(ids);
	return n != 0;
}

int ms_topology_load(const char *path, hwloc_topology_t *out, struct ms_error *err)
{
	if (path)
		return topology_load_xml(path, out, err);
	return topology_load_node(anything_lent(), false, out, err);
}

int plan_for_node(const struct ms_config *config, const struct ms_request *request,
		  const struct driver *driver, int dev, int warm, bool keep, struct ms_plan **out,
		  struct ms_error *err)
{
	hwloc_topology_t topology;
	struct supply *supply;
	int ret;

	if (topology_load_node(anything_lent(), keep, &topology, err) < 0)
		return -1;
	ret = supply_of_node(topology, driver, dev, warm, &supply, err);
	if (ret == 0) {
		ret = plan_decide(config, request, topology, supply, out, err);
		supply_free(supply);
	}
	hwloc_topology_destroy(topology);
	return ret;
}

static int plan_for_topology(const struct ms_config *config, const struct ms_request *request,
			     const char *path, struct ms_plan **out, struct ms_error *err)
{
	hwloc_topology_t topology;
	struct supply *supply;
	int ret;

	if (topology_load_xml(path, &topology, err) < 0)
		return -1;
	ret = supply_of_topology(topology, &supply, err);
	if (ret == 0) {
		ret = plan_decide(config, request, topology, supply, out, err);
		supply_free(supply);
	}
	hwloc_topology_destroy(topology);
	return ret;
}

int ms_plan_make(const struct ms_config *config, const struct ms_request *request,
		 const char *topology, struct ms_plan **out, struct ms_error *err)
{
	const struct ms_image *image = ms_config_image(config, request->image, err);
	const struct driver *driver;
	struct ms_error ignored;
	int dev, ret;

	if (!image)
		return -1;
	if (topology)
		return plan_for_topology(config, request, topology, out, err);
	driver = driver_find(image->driver);
	dev = driver->open(&ignored);
	ret = plan_for_node(config, request, driver, dev, MS_NO_INSTANCE, false, out, err);
	if (dev >= 0)
		driver->close(dev);
	return ret;
}
