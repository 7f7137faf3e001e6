// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile LWK writes into the memory that it shares with the module: console, status,
 * channel. It changes at any moment, also between two reads of the same word.
 */
#include "instance/watch/console.h"
#include "instance/watch/usage.h"
#include "process/thread/channel.h"

#define CPUS 2
#define SLOTS 4

/*
 * Reads of a status area that nobody changes, when the module tries as often as it may to find one
 * slot of each CPU that runs.
 */
#define COPIES (64 + 2 * CPUS)
#define GROUPS(cpu) (sizeof((cpu).times) + sizeof((cpu).memory) + sizeof((cpu).counters))
#define SLOT_READS (sizeof(struct lwk_cpu_status) / 8 + GROUPS(*(struct lwk_cpu_status *)0) / 8 + 8)
#define MOST_READS (COPIES * (SLOTS - CPUS + 1) * SLOT_READS + offsetof(struct lwk_status, cpu))

static struct input input;
static unsigned long reads;
static unsigned int doorbells;
unsigned int simulated_levels;

/* The memory that the LWK can write. */
static struct {
	struct lwk_console console;
	u8 status[LWK_STATUS_BYTES(SLOTS)] __attribute__((aligned(64)));
	struct lwk_channel channel;
} shared;

void scribble(void)
{
	static const size_t places[] = { offsetof(struct lwk_console, head),
					 offsetof(__typeof__(shared), status),
					 offsetof(__typeof__(shared), channel) };
	size_t at;
	u8 what;

	reads++;
	if (!input.left)
		return;
	what = take_byte(&input);
	if (what & 3)
		return;
	at = places[(what >> 2) % 3] + take_number(&input, 1 + (what >> 7)) * 4;
	if (at < sizeof(shared) - 8)
		take_bytes(&input, (u8 *)&shared + at, 1 + (what >> 4) % 8);
}

/* ---- other files of the module ---- */

void doorbell_ring(struct instance *instance, unsigned int slot)
{
	must(slot < SLOTS);
	doorbells++;
}

void copy_lwk_text(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = READ_ONCE(from[i]);
	to[size - 1] = '\0';
}

/* ---- the readers ---- */

static void read_console(struct instance *instance)
{
	u64 position = take_number(&input, 8);
	u32 size = take_byte(&input);
	char *text = malloc(size + 1);
	struct lwkpart_kmsg request = { .position = position,
					.buffer = (uintptr_t)text,
					.capacity = size };
	u32 got = console_read(instance, &position, text, size);

	must(got <= size);
	for (u32 i = 0; i < got; i++)
		must(isprint(text[i]) || text[i] == '\n' || text[i] == '\t');
	must(console_copy(instance, &request) == 0 && request.length <= size);
	free(text);
}

static void read_status(struct instance *instance)
{
	const u32 bytes = LWK_STATUS_BYTES(CPUS);
	struct lwk_status *copy = malloc(bytes);
	struct lwk_usage request = { .buffer = (uintptr_t)copy,
				     .capacity = take_byte(&input) & 1 ? bytes : bytes - 1 };
	size_t left = input.left;
	int error;

	reads = 0;
	error = usage_copy(instance, &request);
	/* Each byte of the input changes a group once at most. */
	must(reads < MOST_READS + left * SLOT_READS);
	must(error ? request.capacity < bytes : request.length == bytes);
	/* The message is a text. */
	must(error || strnlen(copy->message, sizeof(copy->message)) < sizeof(copy->message));
	free(copy);
}

static void read_channel(struct instance *instance)
{
	struct lwk_process process = { .instance = instance };
	struct lwk_thread thread = { .process = &process, .channel = &shared.channel, .slot = 1 };
	struct lwk_packet packet;
	unsigned int rounds = 8;

	while (rounds-- && channel_look(&thread, take_byte(&input) & 1, 3) == MAIL_WAITS) {
		if (channel_peek(&thread, &packet) && take_byte(&input) & 1)
			channel_answer(&thread, packet.id, take_byte(&input));
		else
			channel_drop(&thread);
	}
	channel_ring(&thread);
	channel_forget(&thread);
	must(channel_look(&thread, false, 1) == MAIL_NEVER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct instance instance = { .state = LWK_STATE_RUNNING,
				     .n_cpus = CPUS,
				     .n_slots = SLOTS,
				     .status = (struct lwk_status *)shared.status,
				     .console = &shared.console };

	input = (struct input){ data, size };
	memset(&shared, 0, sizeof(shared));
	/* Only the first slot of each CPU runs, or all do: then the module looks for one many times. */
	for (unsigned int i = CPUS; i < SLOTS; i++) {
		if (size && data[size - 1] & 1)
			instance.status->cpu[i].home = i % CPUS + 1;
		else
			instance.status->cpu[i].times.since_tsc = LWK_TIME_STANDS;
	}
	while (input.left) {
		switch (take_byte(&input) % 3) {
		case 0:
			read_console(&instance);
			break;
		case 1:
			read_status(&instance);
			break;
		case 2:
			read_channel(&instance);
			break;
		}
		must(!instance.rwsem.readers);
	}
	return 0;
}
