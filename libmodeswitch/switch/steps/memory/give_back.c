// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/steps/memory/give_back.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "machine/memory.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "store/journal.h"

int give_back_runs(struct switching *switching, struct ms_error *err)
{
	char size[FORMAT_SIZE];
	struct ms_lent *ledger;
	int ret, error;
	size_t n;

	ret = switching_ledger(switching, &ledger, &n, err);
	for (size_t i = 0; i < n; i++) {
		if (ledger[i].is_cpu || ledger[i].is_blocks || ledger[i].instance != MS_NO_INSTANCE)
			continue;
		error = switching->driver->return_memory(switching->dev, ledger[i].start,
							 ledger[i].bytes);
		if (error && error != -ENOENT)
			ret = ms_fail(err, "memory at %#jx (%s) cannot be given back to Linux: %s",
				      (uintmax_t)ledger[i].start,
				      format_size(ledger[i].bytes, size), strerror(-error));
		else
			switching_say(switching, "memory at %#jx (%s) is back",
				      (uintmax_t)ledger[i].start,
				      format_size(ledger[i].bytes, size));
	}
	free(ledger);
	return ret;
}

/* Finds the range in the ledger that begins there; NULL: it is not lent. */
static const struct ms_lent *find_range(const struct ms_lent *ledger, size_t n, uint64_t start)
{
	for (size_t i = 0; i < n; i++) {
		if (!ledger[i].is_cpu && ledger[i].start == start)
			return &ledger[i];
	}
	return NULL;
}

static int give_back_block(struct switching *switching, struct json_object *entry,
			   const struct ms_lent *lent, struct ms_error *err)
{
	enum owner owner = lent ? switching_owner(switching, lent) : OWNER_NOBODY;
	unsigned long block = journal_number(entry, "block");
	const char *online = journal_text(entry, "online");
	int error = 0;

	if (owner == OWNER_OTHER_JOB)
		return 0;
	if (owner == OWNER_THIS_JOB)
		return ms_fail(err, "memory block %lu is still lent to LWK instance %d", block,
			       lent->instance);
	if (lent)
		error = switching->driver->return_memory(switching->dev, lent->start, lent->bytes);
	if (error && error != -ENOENT)
		return ms_fail(err, "memory block %lu cannot be given back to Linux: %s", block,
			       strerror(-error));
	if (!memory_block_is(block, "offline"))
		return 0;
	error = memory_block_return(block, online);
	if (error)
		return ms_fail(err, "memory block %lu does not come on-line (%s): %s", block,
			       online, strerror(-error));
	switching_say(switching, "memory block %lu is back (%s)", block, online);
	return 0;
}

int give_back_memory(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct ms_lent *ledger;
	int ret;
	size_t n;

	if (!*journal_text(entry, "block"))
		return give_back_runs(switching, err);
	if (switching_ledger(switching, &ledger, &n, err) < 0)
		return -1;
	ret = give_back_block(switching, entry,
			      find_range(ledger, n, journal_number(entry, "start")), err);
	free(ledger);
	return ret;
}
