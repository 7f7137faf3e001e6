// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the LWK instance, gives it the CPUs and memory that were taken, loads the LWK image and
 * boots it. Destroying the instance undoes all of that.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/patience.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "modeswitch/plan.h"
#include "switch/steps/table.h"
#include "watch/panic_dump.h"

#define CONSOLE_TAIL 400

static int create(struct switching *switching, struct ms_error *err)
{
	/* An instance that only holds a warm partition runs nothing and needs no lwk.conf. */
	bool kernel_calls = switching->config && switching->config->kernel_calls;
	bool limited = switching->plan && switching->plan->proxies.cpu_percent;

	switching->instance = switching->driver->create(switching->dev, switching->job_id,
							switching->uid, kernel_calls, limited);
	if (switching->instance == -ENOSPC)
		return ms_fail(err,
			       "this node has as many LWK instances as its driver %s can have; "
			       "submit the job again when another LWK job has ended",
			       switching->driver->name);
	if (switching->instance < 0)
		return ms_fail(err, "an LWK instance cannot be made: %s",
			       strerror(-switching->instance));
	return 0;
}

/* The journal has what a dump needs: the process that undoes may not have read lwk.conf. */
static struct json_object *remember_dump(struct switching *switching)
{
	const struct ms_config *config = switching->config;
	struct json_object *details = json_object_new_object();

	if (!*config->dump_on_panic)
		return details;
	json_object_object_add(details, "dump", json_object_new_string(config->dump_on_panic));
	json_object_object_add(details, "dump_ms",
			       json_object_new_int64(config->switch_timeout_ms / 2));
	return details;
}

/* Finds the instance by its job: a crash may have come before its number was known. */
static int destroy(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct ms_error told;
	int instance, error;

	if (switching->dev < 0)
		return 0;
	instance = driver_instance_of_job(switching->driver, switching->dev, switching->job_id);
	if (instance < 0)
		return 0;
	/* The undo goes on whatever becomes of the dump. */
	if (dump_if_failed(switching->driver, switching->dev, instance, switching->job_id, entry,
			   &told))
		switching_say(switching, "%s", told.text);
	error = switching->driver->destroy(switching->dev, instance);
	if (error)
		return ms_fail(err, "LWK instance %d cannot be ended: %s", instance,
			       strerror(-error));
	switching_say(switching, "LWK instance %d is ended", instance);
	return 0;
}

static int assign(struct switching *switching, struct ms_error *err)
{
	struct patience patience = patience_for(TAKE_CPU_MS);
	const struct ms_plan *plan = switching->plan;
	int error;

	for (size_t i = 0; i < plan->n_cpus; i++) {
		/* A CPU that has run an LWK before goes through Linux. */
		do
			error = switching->driver->assign_cpu(switching->dev, switching->instance,
							      plan->cpus[i].cpu,
							      plan->cpus[i].doorbell_cpu);
		while (patience_lasts(&patience, error));
		if (error)
			return ms_fail(err,
				       "CPU %u (with doorbells to CPU %u) cannot be given to LWK "
				       "instance %d: %s",
				       plan->cpus[i].cpu, plan->cpus[i].doorbell_cpu,
				       switching->instance, strerror(-error));
	}
	for (size_t i = 0; i < switching->n_memory; i++) {
		const struct ms_lent *memory = &switching->memory[i];

		error = switching->driver->assign_memory(switching->dev, switching->instance,
							 memory->start, memory->bytes);
		if (error)
			return ms_fail(
				err,
				"memory at %#jx (%ju MB) cannot be given to LWK instance %d: "
				"%s",
				(uintmax_t)memory->start, (uintmax_t)(memory->bytes >> 20),
				switching->instance, strerror(-error));
	}
	return 0;
}

static int load(struct switching *switching, struct ms_error *err)
{
	const struct ms_image *image = &switching->plan->image;
	int error = switching->driver->load(switching->dev, switching->instance, switching->image,
					    switching->image_size);

	switch (error) {
	case 0:
		return 0;
	case -ENOEXEC:
		return ms_fail(
			err,
			"the LWK image %s (%s) is no kernel for the driver %s; the "
			"administrator's remedy is another Path= in %s; 'dmesg' may tell more",
			image->name, image->path, image->driver, MS_CONFIG_PATH);
	case -ENOMEM:
		return ms_fail(err,
			       "the LWK image %s does not fit into the largest run of the memory "
			       "taken; ask for more memory (--mem)",
			       image->name);
	default:
		return ms_fail(err, "the LWK image %s cannot be loaded: %s", image->name,
			       strerror(-error));
	}
}

/* Makes one printable line of the text. */
static void flatten(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\n' && text[1])
			*to++ = '|';
		else if (*text != '\n')
			*to++ = isprint((unsigned char)*text) ? *text : '?';
	}
	*to = '\0';
}

/* The kernel command line. Where it has no room for one more word, the LWK clears the memory. */
static const char *boot_args(const struct switching *switching, char *text, size_t size)
{
	static const char word[] = " memory=own";
	const char *args = switching->plan->image.args;

	if (!switching->memory_is_own || strlen(args) + sizeof(word) > size)
		return args;
	snprintf(text, size, "%s%s", args, word);
	return text;
}

static int boot(struct switching *switching, struct ms_error *err)
{
	const struct driver *driver = switching->driver;
	unsigned timeout_ms = switching->config->boot_timeout_ms;
	char args[sizeof(switching->plan->image.args)];
	struct instance_info info = { .state = "UNKNOWN" };
	char tail[CONSOLE_TAIL];
	int64_t left = switching->deadline - clock_ms();
	int error;

	if (left < (int64_t)timeout_ms)
		timeout_ms = left > 0 ? left : 1;
	if (driver->hang_limit)
		driver->hang_limit(switching->dev, switching->instance,
				   switching->config->hang_timeout_ms);
	error = driver->boot(switching->dev, switching->instance,
			     boot_args(switching, args, sizeof(args)), timeout_ms);
	if (!error)
		return 0;
	driver->info(switching->dev, switching->instance, &info);
	driver_console_tail(driver, switching->dev, switching->instance, tail, sizeof(tail));
	flatten(tail);
	flatten(info.message);
	return ms_fail(
		err,
		"the LWK %s did not boot: expected it to run within %u ms, found its state %s%s%s "
		"(%s); its console ends with: %s",
		switching->plan->image.name, timeout_ms, info.state, *info.message ? ": " : "",
		info.message, strerror(-error), *tail ? tail : "(nothing)");
}

const struct step step_instance = {
	.name = "instance", .details = remember_dump, .run = create, .undo = destroy
};
const struct step step_assign = { .name = "assign", .run = assign };
const struct step step_load = { .name = "load", .run = load };
const struct step step_boot = { .name = "boot", .run = boot };
