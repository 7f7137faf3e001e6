// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for releases of Slurm that do not go together: slurmctld's, this node's slurmd's, and those
 * that our plugins were built for.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/check/check.h"
#include "node/check/scontrol.h"

/* A release as Slurm numbers it: 22.05.8 is 0x160508. */
#define RELEASE(year, month, micro) ((uint32_t)(year) << 16 | (month) << 8 | (micro))
#define SERIES(release) ((release) >> 8)
/* From this release on the prolog needs scontrol's JSON (spank/compat/slurm_compat.c). */
#define FIRST_WITH_JSON RELEASE(24, 11, 0)
/* From this release on a plugin of type namespace has the tasks of job_container. */
#define FIRST_WITH_NAMESPACE RELEASE(25, 11, 0)

/* The release in "22.05.8"; 0: there is none. */
static uint32_t read_release(const char *text)
{
	unsigned year, month, micro = 0;

	return sscanf(text, "%3u.%2u.%3u", &year, &month, &micro) >= 2 ? RELEASE(year, month, micro)
								       : 0;
}

/* The value of a symbol of 4 bytes in a shared object; 0: it has none. */
static uint32_t symbol_value(Elf *elf, const GElf_Shdr *symbols, Elf_Data *table, const char *name)
{
	uint32_t value = 0;

	for (size_t i = 0; symbols->sh_entsize && i < symbols->sh_size / symbols->sh_entsize; i++) {
		const char *found;
		GElf_Shdr section;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getsym(table, i, &symbol) ||
		    !(found = elf_strptr(elf, symbols->sh_link, symbol.st_name)) ||
		    strcmp(found, name) != 0)
			continue;
		if (!gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &section) ||
		    !(data = elf_rawdata(elf_getscn(elf, symbol.st_shndx), NULL)) || !data->d_buf ||
		    symbol.st_value < section.sh_addr || data->d_size < sizeof(value) ||
		    symbol.st_value - section.sh_addr > data->d_size - sizeof(value))
			return 0;
		memcpy(&value, (char *)data->d_buf + (symbol.st_value - section.sh_addr),
		       sizeof(value));
		return value;
	}
	return 0;
}

/* The release that a plugin was built for; 0: there is no such plugin, or it does not say. */
static uint32_t plugin_release(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	uint32_t release = 0;
	GElf_Shdr header;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (!release && elf && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			release = symbol_value(elf, &header, elf_getdata(section, NULL),
					       "plugin_version");
	}
	elf_end(elf);
	close(fd);
	/* With Slurm 20.11 and older a SPANK plugin tells its own version, which is a small number. */
	return release >> 16 ? release : 0;
}

/* Looks at a plugin of this name in the first of Slurm's directories that has it. */
static void check_plugin(struct checking *checking, const char *name, bool every_micro,
			 uint32_t slurmd)
{
	char dirs[4096], *rest = dirs, *dir, path[4096 + 64] = "", built_for[32], to_do[256];
	uint32_t release = 0;

	check_setting(checking->slurm, "PluginDir", dirs, sizeof(dirs));
	while (!release && (dir = strsep(&rest, ":"))) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		release = plugin_release(path);
	}
	if (!release)
		return;
	snprintf(built_for, sizeof(built_for), "%u.%02u.%u", release >> 16, release >> 8 & 0xff,
		 release & 0xff);
	snprintf(
		to_do, sizeof(to_do),
		"build slurm-lwk with the headers of Slurm %u.%02u.%u, and install it on this node",
		slurmd >> 16, slurmd >> 8 & 0xff, slurmd & 0xff);
	if (SERIES(release) != SERIES(slurmd))
		check_tell(checking, MS_PROBLEM, "releases", to_do,
			   "%s is built for Slurm %s, and slurmd is %u.%02u.%u: slurmd refuses it, "
			   "and does not start with it",
			   path, built_for, slurmd >> 16, slurmd >> 8 & 0xff, slurmd & 0xff);
	else if (every_micro && release != slurmd)
		check_tell(
			checking, MS_NOTE, "releases", to_do,
			"%s is built for Slurm %s, and slurmd is %u.%02u.%u: slurmd may refuse it",
			path, built_for, slurmd >> 16, slurmd >> 8 & 0xff, slurmd & 0xff);
	else
		check_tell(checking, MS_FINE, "releases", NULL, "%s is built for Slurm %s", path,
			   built_for);
}

static void check_daemons(struct checking *checking, uint32_t slurmctld, const char *slurmctld_text,
			  uint32_t slurmd, const char *slurmd_text)
{
	if (SERIES(slurmd) == SERIES(slurmctld))
		check_tell(checking, MS_FINE, "releases", NULL, "slurmctld and slurmd are %s",
			   slurmd_text);
	else if (slurmd > slurmctld)
		check_tell(checking, MS_PROBLEM, "releases",
			   "upgrade slurmctld, and nodes after it",
			   "slurmd is %s, newer than slurmctld, %s: slurmctld understands older "
			   "nodes only, and this one gets no jobs",
			   slurmd_text, slurmctld_text);
	else
		check_tell(
			checking, MS_NOTE, "releases",
			"end the upgrade: install slurmd of slurmctld's release on this node, and "
			"slurm-lwk built for it",
			"slurmctld is %s, slurmd still %s: jobs run, but what the newer release "
			"adds is missing here",
			slurmctld_text, slurmd_text);
}

/* The prolog reads what a job has on the node from the JSON that scontrol prints. */
static void check_json(struct checking *checking, uint32_t slurmd)
{
	if (slurmd < FIRST_WITH_JSON)
		return;
	if (checking->json && *checking->json == '{')
		check_tell(checking, MS_FINE, "slurm", NULL, "scontrol answers in JSON");
	else
		check_tell(checking, MS_PROBLEM, "slurm",
			   "install Slurm's plugins serializer_json and data_parser (Debian: "
			   "slurm-client, slurm-wlm-basic-plugins)",
			   "expected JSON from 'scontrol --json show partition', found %s: each "
			   "LWK job would fail in its prolog",
			   checking->json ? "another text" : "no answer");
}

void check_releases(struct checking *checking)
{
	char slurmctld_text[64] = "", slurmd_text[64] = "";
	uint32_t slurmctld, slurmd;

	if (!checking->slurm || !checking->node)
		return;
	check_setting(checking->slurm, "SLURM_VERSION", slurmctld_text, sizeof(slurmctld_text));
	check_setting(checking->node, "Version", slurmd_text, sizeof(slurmd_text));
	slurmctld = read_release(slurmctld_text);
	slurmd = read_release(slurmd_text);
	/* A node that has not registered yet says nothing. */
	if (!slurmctld || !slurmd)
		return;
	check_daemons(checking, slurmctld, slurmctld_text, slurmd, slurmd_text);
	/* Slurm loads SPANK plugins of the same series, other plugins only of its very release. */
	check_plugin(checking, "lwk.so", false, slurmd);
	check_plugin(checking,
		     slurmd >= FIRST_WITH_NAMESPACE ? "namespace_lwk.so" : "job_container_lwk.so",
		     true, slurmd);
	check_json(checking, slurmd);
}
