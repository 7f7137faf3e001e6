# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += doc/lwkexec.1 doc/lwk.conf.5 doc/lwk.7 doc/lwk-calls.7 doc/lwk-glossary.7 \
	doc/lwk-programs.7 doc/slurm-lwk.7 doc/slurm-lwk-admin.7 doc/lwkctl.8 doc/lwkctl-migrate.8

# README.md and HACKING.md show or name them.
EXTRA_DIST += doc/figures doc/install.md doc/rooms.svg doc/security.md

# The example is a document, because files in sysconfdir are the site's own.
dist_doc_DATA = contrib/lwk.conf.example
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/lwkctl
# bash looks for a command's completion in one file, which is Slurm's own; files here are read before.
bashcompletiondropindir = $(sysconfdir)/bash_completion.d
dist_bashcompletiondropin_DATA = contrib/completion/slurm-lwk

# slurm-lwk-admin(7) says which nodes need it.
systemdunitdir = $(prefix)/lib/systemd/system
systemdunit_DATA = contrib/systemd/slurm-lwk-prepare.service
CLEANFILES += contrib/systemd/slurm-lwk-prepare.service
contrib/systemd/slurm-lwk-prepare.service: $(srcdir)/contrib/systemd/slurm-lwk-prepare.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's,[@]bindir[@],$(bindir),g' -e 's,[@]sysconfdir[@],$(sysconfdir),g' $< >$@
