// SPDX-License-Identifier: GPL-2.0-or-later
#include "drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/slurm_compat.h"

/* True when the text is the name, with or without its domain. */
static bool is_name(const char *text, const char *name)
{
	size_t length = strcspn(name, ".");

	return text &&
	       (strcmp(text, name) == 0 || (strncmp(text, name, length) == 0 && !text[length]));
}

/* Finds the one node of the cluster that is on this host; free(). NULL with Slurm's errno. */
static char *find_own_name(void)
{
	node_info_msg_t *message;
	char host[256] = "", *name = NULL;
	unsigned found = 0;

	gethostname(host, sizeof(host) - 1);
	if (slurm_load_node(0, &message, SHOW_ALL) != 0)
		return NULL;
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (!is_name(message->node_array[i].node_hostname, host))
			continue;
		free(name);
		name = strdup(message->node_array[i].name);
		found++;
	}
	slurm_free_node_info_msg(message);
	if (found == 1)
		return name;
	free(name);
	errno = ESLURM_INVALID_NODE_NAME;
	return NULL;
}

int drain_node(const char *reason)
{
	/* Slurm names the node to prologs and epilogs only. */
	const char *given = getenv("SLURMD_NODENAME");
	char *name = given ? strdup(given) : find_own_name(), *text = strdup(reason);
	update_node_msg_t update;
	int ret = -1;

	if (name && text) {
		slurm_init_update_node_msg(&update);
		update.node_names = name;
		update.node_state = NODE_STATE_DRAIN;
		update.reason = text;
		compat_sign_reason(&update);
		ret = slurm_update_node(&update);
	}
	free(name);
	free(text);
	return ret;
}
