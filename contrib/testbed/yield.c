/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's TCG: a CPU that executes PAUSE gives its host CPU to others. PAUSE is in each
 * loop that waits for another CPU. Where the host has fewer CPUs than its machines, that CPU may
 * have no host CPU, because the loop has it.
 */
#include <sched.h>

#include "qemu-plugin.h"

#define PAUSE_SIZE 2

int qemu_plugin_version = QEMU_INTERFACE;

static void yield(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	sched_yield();
}

static bool is_pause(const struct qemu_plugin_insn *insn)
{
	uint8_t code[PAUSE_SIZE + 1];

	return qemu_plugin_insn_data(insn, code, sizeof(code)) == PAUSE_SIZE && code[0] == 0xf3 &&
	       code[1] == 0x90;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_pause(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, yield, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
