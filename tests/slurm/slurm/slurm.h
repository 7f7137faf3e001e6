/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs, and what slurmctld is asked. */
#ifndef TESTS_SLURM_H
#define TESTS_SLURM_H

#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define NO_VAL 0xfffffffe

#define SHOW_ALL 0x0001
#define SHOW_DETAIL 0x0002

#define SLURM_MAX_NORMAL_STEP_ID 0xfffffff0
#define SLURM_BATCH_SCRIPT 0xfffffffb

enum job_states {
	JOB_PENDING,
	JOB_RUNNING,
	JOB_SUSPENDED,
	JOB_COMPLETE,
};
#define JOB_STATE_BASE 0xff
#define JOB_CONFIGURING 0x4000
#define JOB_COMPLETING 0x8000

enum job_state_reason {
	WAIT_NO_REASON,
	WAIT_PROLOG,
};

typedef struct job_resources job_resources_t;

typedef struct {
#if SINCE(24, 11)
	uint64_t sluid;
#endif
	uint32_t job_id;
	uint32_t step_het_comp;
	uint32_t step_id;
} slurm_step_id_t;

#if SINCE(25, 11)
#define SLURM_STEP_ID_INITIALIZER                                                                  \
	((slurm_step_id_t){ .job_id = NO_VAL, .step_het_comp = NO_VAL, .step_id = NO_VAL })
#endif

typedef struct {
	char *admin_comment;
	uint16_t batch_flag;
	uint32_t het_job_id;
	job_resources_t *job_resrcs;
	uint32_t job_state;
	int32_t *node_inx;
	uint32_t num_nodes;
	uint64_t pn_min_memory;
	uint16_t restart_cnt;
#if SINCE(23, 2)
	uint32_t state_reason;
#else
	uint16_t state_reason;
#endif
	uint16_t threads_per_core;
	uint32_t user_id;
#if SINCE(25, 11)
	slurm_step_id_t step_id;
#else
	uint32_t job_id;
#endif
} slurm_job_info_t;

typedef struct {
	time_t last_update;
	uint32_t record_count;
	slurm_job_info_t *job_array;
} job_info_msg_t;

typedef struct {
	char *admin_comment;
#if SINCE(25, 11)
	slurm_step_id_t step_id;
#else
	uint32_t job_id;
#endif
} job_desc_msg_t;

void slurm_init(const char *configuration);
void slurm_init_job_desc_msg(job_desc_msg_t *description);
int slurm_update_job(job_desc_msg_t *description);

#define NODE_STATE_DRAIN 0x0200

typedef struct {
	char *node_names;
	uint32_t node_state;
	char *reason;
#if !SINCE(26, 5)
	uint32_t reason_uid;
#endif
} update_node_msg_t;

typedef struct {
	char *name;
	char *node_hostname;
} node_info_t;

typedef struct {
	uint32_t record_count;
	node_info_t *node_array;
} node_info_msg_t;

int slurm_load_node(time_t update_time, node_info_msg_t **message, uint16_t flags);
void slurm_free_node_info_msg(node_info_msg_t *message);
void slurm_init_update_node_msg(update_node_msg_t *update);
int slurm_update_node(update_node_msg_t *update);
void slurm_free_job_info_msg(job_info_msg_t *message);

#if SINCE(26, 5)
int slurm_load_job(job_info_msg_t **message, slurm_step_id_t id, uint16_t flags);
int slurm_notify_job(slurm_step_id_t id, char *message);
#else
int slurm_load_job(job_info_msg_t **message, uint32_t job_id, uint16_t flags);
int slurm_notify_job(uint32_t job_id, char *message);
#endif

#if SINCE(25, 11)
int slurm_complete_job(slurm_step_id_t *id, uint32_t status);
#else
int slurm_complete_job(uint32_t job_id, uint32_t status);
#endif

#if SINCE(23, 11)
typedef struct hostlist hostlist_t;
hostlist_t *slurm_hostlist_create(const char *names);
int slurm_hostlist_find(hostlist_t *list, const char *name);
void slurm_hostlist_destroy(hostlist_t *list);
#else
typedef struct hostlist *hostlist_t;
hostlist_t slurm_hostlist_create(const char *names);
int slurm_hostlist_find(hostlist_t list, const char *name);
void slurm_hostlist_destroy(hostlist_t list);
#endif

#if !SINCE(24, 11)
char *slurm_sprint_job_info(slurm_job_info_t *job, int one_line);
int slurm_job_cpus_allocated_str_on_node(char *cpus, size_t size, job_resources_t *resources,
					 const char *node);
#endif

#endif
