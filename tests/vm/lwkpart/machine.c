// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine's CPUs and memory, as sysfs has them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.h"

unsigned int cpu_a, cpu_b, node;

/* Writes a word to a file: 0 or an errno. */
static int write_file(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);
	int error = fd < 0 || write(fd, word, strlen(word)) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	text[0] = 0;
	if (file) {
		if (!fgets(text, size, file))
			text[0] = 0;
		fclose(file);
	}
}

int set_block(__u64 start, const char *state)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%llu/state",
		 (unsigned long long)(start / get_info().block_bytes));
	return write_file(path, state);
}

bool cpu_is_online(unsigned int cpu)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	read_file(path, text, sizeof(text));
	return text[0] == '1';
}

int set_cpu(unsigned int cpu, const char *online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_file(path, online);
}

static int node_of_cpu(unsigned int cpu)
{
	char path[64];
	struct dirent *entry;
	int result = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "node%d", &result) == 1)
			break;
	if (directory)
		closedir(directory);
	return result;
}

void choose_cpus(void)
{
	unsigned int cpu = sysconf(_SC_NPROCESSORS_CONF);

	while (--cpu > 0 && !cpu_b) {
		if (!cpu_is_online(cpu))
			continue;
		if (!cpu_a)
			cpu_a = cpu;
		else
			cpu_b = cpu;
	}
	if (!cpu_b)
		bail_out("wants two on-line CPUs beside CPU 0");
	node = node_of_cpu(cpu_a);
}

__u64 offline_block(void)
{
	unsigned long number, highest = 0, found = 0;
	char path[64], state[16];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "memory%lu", &number) == 1 && number > highest)
			highest = number;
	if (directory)
		closedir(directory);
	/* Not the highest block: the last one of a node can rarely go off-line. */
	for (number = highest; number-- > 1 && number + 16 > highest && !found;) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/memory%lu/state",
			 node, number);
		read_file(path, state, sizeof(state));
		if (!strcmp(state, "online\n") && !write_file(path, "offline"))
			found = number;
	}
	return found * get_info().block_bytes;
}

void read_machine(char *text, size_t size)
{
	char cpus[128], memory[128];

	read_file("/sys/devices/system/cpu/online", cpus, sizeof(cpus));
	read_file("/proc/meminfo", memory, sizeof(memory));
	snprintf(text, size, "CPUs %s%s", cpus, memory);
}

bool can_unload(void)
{
	bool unloaded;

	/* An open file keeps the module, too. */
	close(device);
	unloaded = syscall(SYS_delete_module, "lwkpart", O_NONBLOCK) == 0;
	device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);
	return unloaded;
}
