// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/plan.h"

#include <stdlib.h>

#include "driver/driver.h"
#include "machine/topology.h"
#include "plan/planning.h"

static struct ms_plan *new_plan(const struct ms_image *image)
{
	struct ms_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->image = *image;
	plan->lwk_cpus = hwloc_bitmap_alloc();
	plan->idle_cpus = hwloc_bitmap_alloc();
	plan->linux_cpus = hwloc_bitmap_alloc();
	if (plan->lwk_cpus && plan->idle_cpus && plan->linux_cpus)
		return plan;
	ms_plan_free(plan);
	return NULL;
}

int plan_decide(const struct ms_config *config, const struct ms_request *request,
		hwloc_topology_t topology, const struct supply *supply, struct ms_plan **out,
		struct ms_error *err)
{
	const struct ms_image *image = ms_config_image(config, request->image, err);
	struct planning p = { config, request, topology, supply, .grain = LARGE_PAGE, .err = err };
	const struct driver *driver;
	int ret = -1;

	if (!image)
		return -1;
	driver = driver_find(image->driver);
	if (driver && driver->memory_grain)
		p.grain = driver->memory_grain;
	p.plan = new_plan(image);
	p.system_nodes = hwloc_bitmap_alloc();
	if (!p.plan || !p.system_nodes)
		ms_fail(err, "out of memory");
	else if (topology_system_nodes(topology, config, p.system_nodes, err) == 0 &&
		 plan_cpus(&p) == 0 && plan_memory(&p) == 0)
		ret = plan_proxies(&p);
	hwloc_bitmap_free(p.system_nodes);
	if (ret < 0)
		ms_plan_free(p.plan);
	else
		*out = p.plan;
	return ret;
}

void ms_plan_free(struct ms_plan *plan)
{
	if (!plan)
		return;
	hwloc_bitmap_free(plan->lwk_cpus);
	hwloc_bitmap_free(plan->idle_cpus);
	hwloc_bitmap_free(plan->linux_cpus);
	hwloc_bitmap_free(plan->proxies.cpus);
	hwloc_bitmap_free(plan->proxies.nodes);
	free(plan->cpus);
	free(plan->memory);
	free(plan);
}
