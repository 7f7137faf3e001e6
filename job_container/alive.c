// SPDX-License-Identifier: GPL-2.0-or-later
#include "alive.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "compat/slurm_compat.h"

static bool answers(const char *directory, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool connected;
	int fd;

	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name) >=
	    (int)sizeof(address.sun_path))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	connected = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return connected;
}

/* A slurmstepd listens on NODENAME_JOBID.STEPID; a node's name may have a '_', too. */
static bool is_socket_of(const char *name, uint32_t job_id)
{
	const char *ids = strrchr(name, '_');
	unsigned id, step;

	return ids && sscanf(ids, "_%u.%u", &id, &step) == 2 && id == job_id;
}

bool alive_here(const char *spool_directory, uint32_t job_id)
{
	struct dirent *entry;
	bool alive = false;
	DIR *directory = opendir(spool_directory);

	if (!directory)
		return false;
	while (!alive && (entry = readdir(directory)))
		alive = is_socket_of(entry->d_name, job_id) &&
			answers(spool_directory, entry->d_name);
	closedir(directory);
	return alive;
}

static enum alive_answer judge(const job_info_msg_t *message, uint32_t job_id)
{
	for (uint32_t i = 0; i < message->record_count; i++) {
		uint32_t state = message->job_array[i].job_state;

		if (compat_job_id(&message->job_array[i]) != job_id)
			continue;
		if ((state & JOB_STATE_BASE) == JOB_RUNNING && !(state & JOB_COMPLETING) &&
		    message->job_array[i].state_reason == WAIT_PROLOG)
			return ALIVE_PROLOG;
		/* Slurm will run the epilog of a job that is completing. */
		if (state & (JOB_COMPLETING | JOB_CONFIGURING))
			return ALIVE_YES;
		state &= JOB_STATE_BASE;
		return state == JOB_RUNNING || state == JOB_SUSPENDED ? ALIVE_YES : ALIVE_NO;
	}
	return ALIVE_NO;
}

enum alive_answer alive_ask_slurmctld(uint32_t job_id)
{
	job_info_msg_t *message;
	enum alive_answer answer;

	if (compat_load_job(&message, job_id, SHOW_ALL) != 0)
		return errno == ESLURM_INVALID_JOB_ID ? ALIVE_NO : ALIVE_UNKNOWN;
	answer = judge(message, job_id);
	slurm_free_job_info_msg(message);
	return answer;
}
