// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin of QEMU's TCG that counts what an emulated machine does between two marks of a program
 * in it (mark.h): -plugin libcounts.so,out=FILE. FILE gets a line of JSON for each MARK_END:
 *
 *   {"label": N, "vcpu": the one that marked, "vcpus": [{counts of each that did something}],
 *    "passes": [{"from": A, "to": B, "n": N}], "lines": [the 16 lines that passed most often]}
 *
 * With where=FILE that file gets a line for each place that executed instructions between the last
 * two marks: the CPU, the address, and how many instructions.
 *
 * Counts do not depend on the host when the machine's CPUs take turns (-icount). Until a program
 * says MARK_ARM the machine is slowed down little.
 *
 * Cache lines are those of the model of lines.h: a line passes when a CPU needs one that another has
 * modified; an upgrade is a store to a line that others only have read. A line that nobody has
 * modified comes from memory ("fetched"). Page walks, fetches of instructions and what an interrupt
 * pushes are not seen.
 *
 * Instructions are "user", "kernel" or "module" by their address. Instructions that wait are among
 * these, and "waiting" says how many: those between two PAUSEs of a CPU that has stored nothing
 * between them. A string instruction with REP counts once, as CPUs count it, although QEMU executes
 * it once for each element; "string_bytes" says how much such instructions copied, set or compared.
 */
#include "lines.h"
#include "mark.h"
#include "places.h"
#include "qemu-plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VCPUS LINES_MAX_VCPUS

/* ---- counts ---- */

enum counter {
	USER,
	KERNEL,
	MODULE,
	LOCKED,
	SYSCALLS,
	RETURNS, /* IRET: the ends of exceptions and interrupts */
	WRMSR,	 /* timers, and IPIs in x2APIC mode; otherwise IPIs are among "devices" */
	PORTS,
	HALTS,
	INVALIDATIONS, /* of the TLB */
	WAITING,
	STRING_BYTES,
	LOADS,
	STORES,
	DEVICES,
	FETCHED,
	UPGRADED,
	COUNTERS
};

static const char *const names[COUNTERS] = {
	[USER] = "user",
	[KERNEL] = "kernel",
	[MODULE] = "module",
	[LOCKED] = "locked",
	[SYSCALLS] = "syscalls",
	[RETURNS] = "irets",
	[WRMSR] = "wrmsr",
	[PORTS] = "ports",
	[HALTS] = "halts",
	[INVALIDATIONS] = "tlb",
	[WAITING] = "waiting",
	[LOADS] = "loads",
	[STORES] = "stores",
	[DEVICES] = "devices",
	[FETCHED] = "fetched",
	[UPGRADED] = "upgraded",
	[STRING_BYTES] = "string_bytes",
};

struct counts {
	uint64_t n[COUNTERS];
	/* The counts at the CPU's last PAUSE. */
	uint64_t paused_instructions, paused_stores;
	/* The string instruction that the CPU executed last, and no other after it. */
	uint64_t string_at;
};

static struct counts counters[MAX_VCPUS], before[MAX_VCPUS];
static const struct CPUState *vcpus[MAX_VCPUS];

/* The CPU that this thread emulates. */
static unsigned here(void)
{
	static __thread unsigned last;

	if (vcpus[last] != current_cpu) {
		for (last = 0; last < MAX_VCPUS - 1 && vcpus[last] != current_cpu; last++)
			;
	}
	return last;
}

static uint64_t instructions(const struct counts *counts)
{
	return counts->n[USER] + counts->n[KERNEL] + counts->n[MODULE];
}

/* ---- cache lines ---- */

/* CPUs run beside each other without -icount. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed, counting;
static FILE *out;

static void on_access(unsigned translated_for, qemu_plugin_meminfo_t info, uint64_t vaddr, void *at)
{
	unsigned vcpu = here();
	bool store = qemu_plugin_mem_is_store(info);
	struct qemu_plugin_hwaddr *address = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t first, last;

	(void)translated_for;
	counters[vcpu].n[store ? STORES : LOADS]++;
	if (!address)
		return;
	if (qemu_plugin_hwaddr_is_io(address)) {
		counters[vcpu].n[DEVICES]++;
		return;
	}
	first = qemu_plugin_hwaddr_phys_addr(address);
	last = first + (1U << qemu_plugin_mem_size_shift(info)) - 1;
	/* The second page of an access may be anywhere in memory: only the first one counts. */
	if (last >> 12 != first >> 12)
		last = first;
	pthread_mutex_lock(&lock);
	for (uint64_t line = first >> LINE_SHIFT; line <= last >> LINE_SHIFT; line++) {
		enum line_event event = store ? line_store(vcpu, line, (uintptr_t)at)
					      : line_load(vcpu, line, (uintptr_t)at);

		counters[vcpu].n[FETCHED] += event == LINE_FETCHED;
		counters[vcpu].n[UPGRADED] += event == LINE_UPGRADED;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- marks ---- */

static void begin(void)
{
	places_begin();
	for (int vcpu = 0; vcpu < qemu_plugin_num_vcpus(); vcpu++)
		before[vcpu] = counters[vcpu];
	lines_begin();
	counting = true;
}

static void print_vcpus(void)
{
	const char *separator = "";

	fputs("\"vcpus\":[", out);
	for (int vcpu = 0; vcpu < qemu_plugin_num_vcpus(); vcpu++) {
		const struct counts *now = &counters[vcpu];

		if (instructions(now) == instructions(&before[vcpu]))
			continue;
		fprintf(out, "%s{\"vcpu\":%d", separator, vcpu);
		for (int i = 0; i < COUNTERS; i++)
			fprintf(out, ",\"%s\":%llu", names[i],
				(unsigned long long)(now->n[i] - before[vcpu].n[i]));
		fputs("}", out);
		separator = ",";
	}
	fputs("]", out);
}

static void end(unsigned vcpu, unsigned label)
{
	fprintf(out, "{\"label\":%u,\"vcpu\":%u,", label, vcpu);
	if (counting) {
		print_vcpus();
		lines_print(out);
		places_write();
	} else {
		fputs("\"failed\":\"nothing was counted: it was not armed, or nothing began\"",
		      out);
	}
	fputs("}\n", out);
	fflush(out);
	counting = false;
}

static qemu_plugin_id_t own_id;
static void translate_armed(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
static void translate_idle(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void now_armed(qemu_plugin_id_t id)
{
	/* The model is no longer true: nothing was seen meanwhile. */
	lines_forget();
	for (int i = 0; i < qemu_plugin_num_vcpus(); i++)
		vcpus[i] = qemu_get_cpu(i);
	armed = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_armed);
}

static void now_idle(qemu_plugin_id_t id)
{
	armed = counting = false;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_idle);
}

static void on_mark(unsigned translated_for, void *data)
{
	uint32_t operand = (uint32_t)(uintptr_t)data;

	(void)translated_for;
	pthread_mutex_lock(&lock);
	switch (MARK_WHAT(operand)) {
	case MARK_ARM:
		if (!armed)
			qemu_plugin_reset(own_id, now_armed);
		break;
	case MARK_BEGIN:
		if (armed)
			begin();
		break;
	case MARK_END:
		end(here(), MARK_LABEL(operand));
		break;
	case MARK_DISARM:
		if (armed)
			qemu_plugin_reset(own_id, now_idle);
		break;
	default:
		break;
	}
	pthread_mutex_unlock(&lock);
}

/* An instruction's kind: its place, whether it is locked, and a counter of its own or COUNTERS. */
#define LOCK_BIT 0x100UL
#define PAUSE_BIT 0x200UL
#define KIND_SHIFT 16

static enum counter place_of(uint64_t address)
{
	if (address >> 63 == 0)
		return USER;
	return address >= 0xffffffffc0000000ULL ? MODULE : KERNEL;
}

static void paused(struct counts *counts)
{
	uint64_t now = instructions(counts);

	if (counts->n[STORES] == counts->paused_stores)
		counts->n[WAITING] += now - counts->paused_instructions;
	counts->paused_instructions = now;
	counts->paused_stores = counts->n[STORES];
}

static void on_instruction(unsigned translated_for, void *data)
{
	uintptr_t what = (uintptr_t)data;
	struct counts *counts = &counters[here()];

	(void)translated_for;
	counts->string_at = 0;
	counts->n[what & 0xff]++;
	if (what & LOCK_BIT)
		counts->n[LOCKED]++;
	if (what >> KIND_SHIFT != COUNTERS)
		counts->n[what >> KIND_SHIFT]++;
	if (what & PAUSE_BIT)
		paused(counts);
}

static void on_place(unsigned translated_for, void *at)
{
	(void)translated_for;
	if (counting)
		places_note(here(), (uintptr_t)at);
}

/* An element of the string instruction at 'at', by the size of its elements. */
static void on_element(uint64_t at, unsigned size)
{
	struct counts *counts = &counters[here()];

	/* With -icount QEMU executes it once more than it has elements. */
	if (counts->string_at == at) {
		counts->n[STRING_BYTES] += size;
		return;
	}
	counts->string_at = at;
	counts->n[place_of(at)]++;
	if (counting)
		places_note(here(), at);
}

#define ON_ELEMENT(size)                                                                           \
	static void on_element_##size(unsigned translated_for, void *address)                      \
	{                                                                                          \
		(void)translated_for;                                                              \
		on_element((uintptr_t)address, size);                                              \
	}
ON_ELEMENT(1)
ON_ELEMENT(2)
ON_ELEMENT(4)
ON_ELEMENT(8)

/* ---- translating ---- */

struct code {
	uint8_t bytes[16];
	size_t size;
};

static struct code code_of(const struct qemu_plugin_insn *insn)
{
	struct code code = { { 0 }, 0 };

	code.size = qemu_plugin_insn_data(insn, code.bytes, sizeof(code.bytes));
	return code;
}

static void look_for_mark(struct qemu_plugin_insn *insn, const struct code *code)
{
	uint32_t operand;

	if (code->size != 7 || memcmp(code->bytes, "\x0f\x1f\x80", 3) != 0)
		return;
	memcpy(&operand, code->bytes + 3, sizeof(operand));
	if ((operand & 0xffff0000U) == MARK_MAGIC)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)operand);
}

static void translate_idle(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct code code = code_of(insn);

		look_for_mark(insn, &code);
	}
}

/*
 * Returns what an instruction is by its bytes behind the prefixes; COUNTERS: nothing that is
 * counted.
 */
static enum counter kind_of(const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return COUNTERS;
	if (bytes[0] == 0xcf)
		return RETURNS;
	if (bytes[0] == 0xf4)
		return HALTS;
	/* E4 to E7 and EC to EF: IN and OUT. */
	if ((bytes[0] & 0xf4) == 0xe4)
		return PORTS;
	if (bytes[0] != 0x0f || size < 2)
		return COUNTERS;
	if (bytes[1] == 0x05)
		return SYSCALLS;
	if (bytes[1] == 0x30)
		return WRMSR;
	/* MWAIT. */
	if (bytes[1] == 0x01 && size == 3 && bytes[2] == 0xc9)
		return HALTS;
	/* INVLPG, and loads of CR3. */
	if (bytes[1] == 0x01 && size > 2 && (bytes[2] & 0x38) == 0x38 && bytes[2] < 0xc0)
		return INVALIDATIONS;
	if (bytes[1] == 0x22 && size > 2 && (bytes[2] & 0x38) == 0x18)
		return INVALIDATIONS;
	/* INVPCID. */
	if (bytes[1] == 0x38 && size > 2 && bytes[2] == 0x82)
		return INVALIDATIONS;
	return COUNTERS;
}

/* Sizes, LOCK and REP, segments, REX. */
static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
}

/* XCHG with memory is locked without the prefix. */
static bool is_locked(const uint8_t *bytes, size_t size)
{
	return size > 1 && (bytes[0] == 0x86 || bytes[0] == 0x87) && bytes[1] < 0xc0;
}

/* Returns what on_instruction() gets. */
static uintptr_t what_is(const struct code *code, uint64_t address)
{
	uintptr_t what = place_of(address);
	size_t prefixes = 0;

	for (; prefixes < code->size && is_prefix(code->bytes[prefixes]); prefixes++)
		what |= code->bytes[prefixes] == 0xf0 ? LOCK_BIT : 0;
	if (code->size == 2 && code->bytes[0] == 0xf3 && code->bytes[1] == 0x90)
		what |= PAUSE_BIT;
	if (is_locked(code->bytes + prefixes, code->size - prefixes))
		what |= LOCK_BIT;
	return what | (uintptr_t)kind_of(code->bytes + prefixes, code->size - prefixes)
			      << KIND_SHIFT;
}

/* Returns the function that counts a string instruction with REP; NULL for other instructions. */
static qemu_plugin_vcpu_udata_cb_t element_of(const struct code *code)
{
	bool rep = false, operand16 = false, operand64 = false;
	size_t prefixes = 0;
	uint8_t opcode;

	for (; prefixes < code->size && is_prefix(code->bytes[prefixes]); prefixes++) {
		rep |= code->bytes[prefixes] == 0xf2 || code->bytes[prefixes] == 0xf3;
		operand16 |= code->bytes[prefixes] == 0x66;
		operand64 |= (code->bytes[prefixes] & 0xf8) == 0x48;
	}
	if (!rep || prefixes == code->size)
		return NULL;
	opcode = code->bytes[prefixes];
	/* MOVS and CMPS, STOS, LODS and SCAS; odd ones have elements of more than a byte. */
	if (opcode < 0xa4 || opcode > 0xaf || opcode == 0xa8 || opcode == 0xa9)
		return NULL;
	if (!(opcode & 1))
		return on_element_1;
	if (operand64)
		return on_element_8;
	return operand16 ? on_element_2 : on_element_4;
}

static void translate_armed(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct code code = code_of(insn);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		qemu_plugin_vcpu_udata_cb_t element = element_of(&code);

		if (element)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, element, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)address);
		else
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction,
							       QEMU_PLUGIN_CB_NO_REGS,
							       (void *)what_is(&code, address));
		if (places_wanted() && !element)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_place, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)address);
		look_for_mark(insn, &code);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)address);
	}
}

int qemu_plugin_version = QEMU_INTERFACE;

static int refuse(const char *expected, const char *found)
{
	fprintf(stderr, "counts: expected %s, found %s; see tests/bench/parts/counts/plugin.c\n",
		expected, found);
	return -1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (!info->system_emulation || strcmp(info->target_name, "x86_64") != 0)
		return refuse("qemu-system-x86_64", info->target_name);
	if (info->version.min > QEMU_INTERFACE || info->version.cur < QEMU_INTERFACE)
		return refuse("a QEMU with version 4 of the plugins' interface", "another one");
	if (info->system.max_vcpus > MAX_VCPUS)
		return refuse("at most 64 CPUs", "more");
	if (argc < 1 || argc > 2 || strncmp(argv[0], "out=", 4) != 0)
		return refuse("out=FILE", argc ? argv[0] : "nothing");
	if (argc == 2 && strncmp(argv[1], "where=", 6) != 0)
		return refuse("where=FILE", argv[1]);
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return refuse("a file to write to", argv[0] + 4);
	if (argc == 2 && !places_open(argv[1] + 6))
		return refuse("memory for the places of instructions", "none");
	own_id = id;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_idle);
	return 0;
}
