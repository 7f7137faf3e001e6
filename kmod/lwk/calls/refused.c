/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons are those of lwk-calls(7). */
#include "lwk/calls/refused.h"

#include <linux/errno.h>

#include "abi/shared/linux_calls.h"
#include "lwk/process/process.h"
#include "lwk/process/slot.h"
#include "lwk/watch/console.h"

static const u16 administrators[] = {
	__NR_acct,	     __NR_adjtimex,	   __NR_chroot,
	__NR_clock_adjtime,  __NR_clock_settime,   __NR_delete_module,
	__NR_fanotify_init,  __NR_fanotify_mark,   __NR_finit_module,
	__NR_fsconfig,	     __NR_fsmount,	   __NR_fsopen,
	__NR_fspick,	     __NR_init_module,	   __NR_ioperm,
	__NR_iopl,	     __NR_kexec_file_load, __NR_kexec_load,
	__NR_lookup_dcookie, __NR_mount,	   __NR_mount_setattr,
	__NR_move_mount,     __NR_open_tree,	   __NR_pivot_root,
	__NR_quotactl,	     __NR_quotactl_fd,	   __NR_reboot,
	__NR_setdomainname,  __NR_settimeofday,	   __NR_swapoff,
	__NR_swapon,	     __NR_sysfs,	   __NR_syslog,
	__NR_umount2,	     __NR_ustat,	   __NR_vhangup,
};
static const u16 identity[] = {
	__NR_add_key,
	__NR_capset,
	__NR_keyctl,
	__NR_landlock_add_rule,
	__NR_landlock_create_ruleset,
	__NR_landlock_restrict_self,
	__NR_request_key,
	__NR_seccomp,
	__NR_setns,
	__NR_unshare,
};
static const u16 linux_cpus[] = {
	__NR_bpf,    __NR_kcmp,		 __NR_perf_event_open,
	__NR_ptrace, __NR_sched_getattr, __NR_sched_setattr,
};
static const u16 rings[] = {
	__NR_io_cancel,	     __NR_io_destroy,	     __NR_io_getevents,
	__NR_io_pgetevents,  __NR_io_setup,	     __NR_io_submit,
	__NR_io_uring_enter, __NR_io_uring_register, __NR_io_uring_setup,
};
static const u16 lwk_memory[] = {
	__NR_memfd_secret, __NR_process_madvise, __NR_remap_file_pages,
	__NR_userfaultfd,  __NR_vmsplice,
};
static const u16 signals[] = { __NR_signalfd, __NR_signalfd4 };
static const u16 placement[] = { __NR_migrate_pages, __NR_set_mempolicy_home_node };
static const u16 dropped[] = {
	__NR__sysctl,	     __NR_afs_syscall,	   __NR_create_module, __NR_epoll_ctl_old,
	__NR_epoll_wait_old, __NR_get_kernel_syms, __NR_getpmsg,       __NR_nfsservctl,
	__NR_putpmsg,	     __NR_query_module,	   __NR_security,      __NR_tuxcall,
	__NR_uselib,	     __NR_vserver,
};

#define REASON(reason, calls)                                                                      \
	{                                                                                          \
		reason, calls, ARRAY_SIZE(calls)                                                   \
	}
static const struct {
	const char *reason;
	const u16 *calls;
	u32 n;
} reasons[] = {
	REASON("for administrators", administrators),
	REASON("the proxy's identity is fixed", identity),
	REASON("Linux cannot tell of LWK CPUs", linux_cpus),
	REASON("needs shared rings", rings),
	REASON("would share LWK memory", lwk_memory),
	REASON("signals wait on the LWK", signals),
	REASON("pages stay where they are", placement),
	REASON("Linux has dropped it", dropped),
};

static const char *reason_of(u64 nr)
{
	for (u32 i = 0; i < ARRAY_SIZE(reasons); i++)
		for (u32 k = 0; k < reasons[i].n; k++)
			if (reasons[i].calls[k] == nr)
				return reasons[i].reason;
	return "not implemented";
}

s64 refuse(u64 nr)
{
	/* All numbers that Linux has no call for share the last bit. */
	static u64 told[16];
	u64 at = MIN(nr, sizeof(told) * 8 - 1), bit = 1UL << at % 64;

	if (!(__atomic_fetch_or(&told[at / 64], bit, __ATOMIC_RELAXED) & bit))
		print("pid %u: system call %llu is not on this LWK: %s", this_process()->pid, nr,
		      reason_of(nr));
	return -ENOSYS;
}
