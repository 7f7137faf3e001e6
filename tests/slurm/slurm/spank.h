/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface of SPANK plugins. */
#ifndef TESTS_SLURM_SPANK_H
#define TESTS_SLURM_SPANK_H

#include <slurm/slurm_version.h>

typedef struct spank_handle *spank_t;

enum spank_item {
	S_JOB_UID,
	S_JOB_GID,
	S_JOB_ID,
	S_JOB_STEPID,
	S_JOB_LOCAL_TASK_COUNT,
	S_JOB_ARGV,
	S_TASK_ID,
	S_TASK_PID,
};
typedef enum spank_item spank_item_t;

enum spank_context {
	S_CTX_ERROR,
	S_CTX_LOCAL,
	S_CTX_REMOTE,
	S_CTX_ALLOCATOR,
	S_CTX_SLURMD,
	S_CTX_JOB_SCRIPT,
};
typedef enum spank_context spank_context_t;

#if SINCE(25, 5)
typedef enum { ESPANK_SUCCESS, ESPANK_ERROR, ESPANK_NODE_FAILURE, ESPANK_JOB_FAILURE } slurm_err_t;
typedef slurm_err_t spank_err_t;
#elif SINCE(21, 8)
typedef enum { ESPANK_SUCCESS, ESPANK_ERROR } slurm_err_t;
typedef slurm_err_t spank_err_t;
#else
typedef enum spank_err { ESPANK_SUCCESS, ESPANK_ERROR } spank_err_t;
#endif

typedef int (*spank_opt_cb_f)(int value, const char *argument, int remote);

struct spank_option {
	char *name, *arginfo, *usage;
	int has_arg, val;
	spank_opt_cb_f cb;
};

spank_context_t spank_context(void);
spank_err_t spank_option_register(spank_t spank, struct spank_option *option);
spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **argument);
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...);
spank_err_t spank_getenv(spank_t spank, const char *name, char *value, int size);
spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite);
spank_err_t spank_unsetenv(spank_t spank, const char *name);
spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value,
				     int overwrite);
#if SINCE(23, 11)
spank_err_t spank_prepend_task_argv(spank_t spank, int argc, const char *argv[]);
#endif

void slurm_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Slurm calls these, and the plugin defines them. */
#if SINCE(25, 5)
extern int slurm_spank_init_failure_mode;
#endif
int slurm_spank_init(spank_t spank, int argc, char *argv[]);
int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[]);
int slurm_spank_job_prolog(spank_t spank, int argc, char *argv[]);
int slurm_spank_user_init(spank_t spank, int argc, char *argv[]);
int slurm_spank_task_init_privileged(spank_t spank, int argc, char *argv[]);
int slurm_spank_task_init(spank_t spank, int argc, char *argv[]);
int slurm_spank_task_post_fork(spank_t spank, int argc, char *argv[]);
int slurm_spank_task_exit(spank_t spank, int argc, char *argv[]);
int slurm_spank_job_epilog(spank_t spank, int argc, char *argv[]);

#if SINCE(21, 8)
#define SPANK_PLUGIN(name, version)                                                                \
	const char plugin_name[] = #name;                                                          \
	const char plugin_type[] = "spank";                                                        \
	const unsigned int plugin_version = SLURM_VERSION_NUMBER;                                  \
	const unsigned int spank_plugin_version = version;
#else
#define SPANK_PLUGIN(name, version)                                                                \
	const char plugin_name[] = #name;                                                          \
	const char plugin_type[] = "spank";                                                        \
	const unsigned int plugin_version = version;
#endif

#endif
