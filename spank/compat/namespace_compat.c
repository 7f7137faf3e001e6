// SPDX-License-Identifier: GPL-2.0-or-later
#include "compat/namespace_compat.h"

/* Slurm's own structures, of which only addresses matter here. */
struct fd_map;
struct step;

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)

int namespace_p_join_external(slurm_step_id_t *step_id, struct fd_map *fd_map);
int namespace_p_stepd_create(struct step *step);
int namespace_p_send_stepd(int fd);
int namespace_p_recv_stepd(int fd);
bool namespace_p_can_bpf(struct step *step);
int namespace_p_setup_bpf_token(struct step *step);

/* There is no namespace to join, because each task has its own. */
int namespace_p_join_external(slurm_step_id_t *step_id, struct fd_map *fd_map)
{
	return SLURM_SUCCESS;
}

int namespace_p_stepd_create(struct step *step)
{
	return SLURM_SUCCESS;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)

int namespace_p_stepd_delete(struct step *step);
int namespace_p_stepd_delete(struct step *step)
{
	return SLURM_SUCCESS;
}

#else

int namespace_p_stepd_delete(slurm_step_id_t *step_id);
int namespace_p_stepd_delete(slurm_step_id_t *step_id)
{
	return SLURM_SUCCESS;
}

#endif

int namespace_p_send_stepd(int fd)
{
	return SLURM_SUCCESS;
}

int namespace_p_recv_stepd(int fd)
{
	return SLURM_SUCCESS;
}

/* A mount namespace alone takes nobody's right to load BPF programs. */
bool namespace_p_can_bpf(struct step *step)
{
	return true;
}

int namespace_p_setup_bpf_token(struct step *step)
{
	return SLURM_SUCCESS;
}

#else /* job_container */

int container_p_join_external(uint32_t job_id);
int container_p_restore(char *directory, bool recover);

/* 0 is no file descriptor of a namespace, and lets the next plugin answer. */
int container_p_join_external(uint32_t job_id)
{
	return 0;
}

int container_p_restore(char *directory, bool recover)
{
	return namespace_p_restore(directory, recover);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)

int container_p_join(slurm_step_id_t *step_id, uid_t uid, bool step_create);
int container_p_join(slurm_step_id_t *step_id, uid_t uid, bool step_create)
{
	return namespace_p_join(step_id, uid, step_create);
}

#else

int container_p_join(uint32_t job_id, uid_t uid);
int container_p_join(uint32_t job_id, uid_t uid)
{
	slurm_step_id_t id = { .job_id = job_id, .step_id = NO_VAL, .step_het_comp = NO_VAL };

	return namespace_p_join(&id, uid, false);
}

#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)

int container_p_stepd_create(uint32_t job_id, struct step *step);
int container_p_send_stepd(int fd);
int container_p_recv_stepd(int fd);

int container_p_stepd_create(uint32_t job_id, struct step *step)
{
	return SLURM_SUCCESS;
}

int container_p_send_stepd(int fd)
{
	return SLURM_SUCCESS;
}

int container_p_recv_stepd(int fd)
{
	return SLURM_SUCCESS;
}

#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(21, 8, 0)

int container_p_stepd_create(uint32_t job_id, uid_t uid);
int container_p_stepd_create(uint32_t job_id, uid_t uid)
{
	return SLURM_SUCCESS;
}

#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(21, 8, 0)

int container_p_stepd_delete(uint32_t job_id);
int container_p_stepd_delete(uint32_t job_id)
{
	return SLURM_SUCCESS;
}

#endif

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)

int container_p_add_cont(uint32_t job_id, uint64_t cont_id);
int container_p_delete(uint32_t job_id);
void container_p_reconfig(void);

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(21, 8, 0)

int container_p_create(uint32_t job_id, uid_t uid);
int container_p_create(uint32_t job_id, uid_t uid)
{
	return SLURM_SUCCESS;
}

#else

int container_p_create(uint32_t job_id);
int container_p_create(uint32_t job_id)
{
	return SLURM_SUCCESS;
}

#endif

int container_p_add_cont(uint32_t job_id, uint64_t cont_id)
{
	return SLURM_SUCCESS;
}

int container_p_delete(uint32_t job_id)
{
	return SLURM_SUCCESS;
}

void container_p_reconfig(void)
{
}

#endif

#endif
