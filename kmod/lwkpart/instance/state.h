/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an instance, as Linux has it and as the LWK reports it. */
#ifndef LWKPART_STATE_H
#define LWKPART_STATE_H

#include "instance/instance.h"

/*
 * The state. PANIC also when only the LWK's status area says so yet; then the watch soon
 * takes over its message. With rwsem held for reading or writing.
 */
enum lwk_state instance_state(struct instance *instance);
/* True when the LWK lives and says that the memory has nothing of its former users. */
bool instance_memory_is_clear(const struct instance *instance);
/*
 * The state, and why it is PANIC or HUNG; 'message' has LWKPART_MESSAGE_LEN bytes. Never waits:
 * programs of the job that wait for its LWK hold rwsem. While they do, a panic is not seen.
 */
enum lwk_state instance_tell(struct instance *instance, char *message);
/* Enters a new state. With rwsem held for writing. */
void instance_set_state(struct instance *instance, enum lwk_state state);
/* Enters PANIC when the LWK says that it has panicked. Takes rwsem. */
void instance_notice_panic(struct instance *instance);
/* Enters HUNG, for the reason given, when the instance has processes. Takes rwsem. */
void instance_declare_hung(struct instance *instance, const char *why);

/* True when an instance in this state has processes, running or frozen, and its LWK answers. */
static inline bool state_has_processes(enum lwk_state state)
{
	return state == LWK_STATE_RUNNING || state == LWK_STATE_FREEZING ||
	       state == LWK_STATE_FROZEN;
}

#endif
