# SPDX-License-Identifier: GPL-2.0-or-later
# libihk.so and IHK's tools over lwkpart.ko. They are not where IHK's own would be: who wants them
# names their folder.
ihkdir = $(prefix)/lib/slurm-lwk/ihk
ihkexecdir = $(ihkdir)
ihkexec_LTLIBRARIES = contrib/ihk-compat/libihk.la
contrib_ihk_compat_libihk_la_SOURCES = \
	contrib/ihk-compat/compat.c \
	contrib/ihk-compat/device.c \
	contrib/ihk-compat/holdings.c \
	contrib/ihk-compat/os.c \
	contrib/ihk-compat/watch.c
contrib_ihk_compat_libihk_la_LIBADD = libmodeswitch/libmodeswitch_all.la
contrib_ihk_compat_libihk_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -no-undefined \
	-export-symbols-regex '^ihk_'
dist_ihkexec_SCRIPTS = contrib/ihk-compat/mcexec

ihkexec_PROGRAMS = contrib/ihk-compat/ihkconfig contrib/ihk-compat/ihkosctl
ihk_words = contrib/ihk-compat/words.c
contrib_ihk_compat_ihkconfig_SOURCES = contrib/ihk-compat/ihkconfig.c $(ihk_words)
contrib_ihk_compat_ihkconfig_CFLAGS = $(AM_CFLAGS) $(PIE_FLAGS)
contrib_ihk_compat_ihkconfig_LDADD = contrib/ihk-compat/libihk.la
contrib_ihk_compat_ihkosctl_SOURCES = contrib/ihk-compat/ihkosctl.c $(ihk_words)
contrib_ihk_compat_ihkosctl_CFLAGS = $(AM_CFLAGS) $(PIE_FLAGS)
contrib_ihk_compat_ihkosctl_LDADD = contrib/ihk-compat/libihk.la

# The description is for linking; without it libtool does not uninstall the library.
install-exec-hook: remove-ihk-description
remove-ihk-description:
	rm -f $(DESTDIR)$(ihkdir)/libihk.la
uninstall-local:
	rm -f $(DESTDIR)$(ihkdir)/libihk.so
