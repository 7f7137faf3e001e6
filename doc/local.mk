# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += doc/lwk.7 doc/lwk-calls.7 doc/lwk-programs.7 doc/lwk.conf.5 doc/lwkctl.8 doc/lwkctl-migrate.8 doc/lwkexec.1 \
	doc/slurm-lwk.7 doc/slurm-lwk-admin.7

# The example goes among the documents: what is in sysconfdir is the site's own.
dist_doc_DATA = contrib/lwk.conf.example
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = contrib/completion/lwkctl

# To be enabled on nodes that need it; slurm-lwk-admin(7) tells which.
systemdunitdir = $(prefix)/lib/systemd/system
dist_systemdunit_DATA = contrib/systemd/slurm-lwk-prepare.service
