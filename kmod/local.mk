# SPDX-License-Identifier: GPL-2.0-or-later
# lwkpart.ko. The kernel's own build runs in kmod/module of the build tree, on links to
# the sources, so that the source tree stays clean, and may be read-only.

abi_headers = $(wildcard $(srcdir)/kmod/abi/*.h $(srcdir)/kmod/abi/*/*.h)
kmod_module_sources = $(srcdir)/kmod/lwkpart/Kbuild \
	$(wildcard $(srcdir)/kmod/lwkpart/*.[ch] $(srcdir)/kmod/lwkpart/*/*.[chS])
EXTRA_DIST += kmod/abi kmod/lwkpart kmod/tries

if HAVE_KERNEL
kmod_moduledir = /lib/modules/$(KERNEL_RELEASE)/updates
kmod_module_DATA = kmod/module/lwkpart.ko

kmod/module/lwkpart.ko: $(kmod_module_sources) $(abi_headers) kmod/module/config.mk
	$(AM_V_GEN)$(MKDIR_P) kmod/module && find kmod/module -type l -delete && \
	cp -rs --no-preserve=mode $(abspath $(srcdir)/kmod/lwkpart)/. kmod/module && \
	cp -rs --no-preserve=mode $(abspath $(srcdir)/kmod/abi) kmod/module && \
	$(MAKE) -C $(KERNEL_BUILD) M=$(abs_top_builddir)/kmod/module modules && \
	touch $@

# A file of kmod/tries that the kernel's build compiles gives the module's sources HAVE_ and its name.
kmod_tries = $(wildcard $(srcdir)/kmod/tries/*.[cS])
kmod_tries_objects = $(addsuffix .o,$(basename $(notdir $(kmod_tries))))
kmod/module/config.mk: Makefile $(kmod_tries)
	$(AM_V_GEN)rm -rf kmod/tried && $(MKDIR_P) $(@D) kmod/tried && cp $(kmod_tries) kmod/tried && \
	echo 'obj-m := $(kmod_tries_objects)' >kmod/tried/Kbuild && \
	{ $(MAKE) -k -C $(KERNEL_BUILD) M=$(abs_top_builddir)/kmod/tried $(kmod_tries_objects) \
		>kmod/tried/log 2>&1 || :; } && \
	{ printf '%s\n' 'ccflags-y += -DLWKPART_VERSION=\"$(VERSION)\" $(WERROR_CFLAGS)' && \
	for object in $(kmod_tries_objects); do test ! -e "kmod/tried/$$object" || \
		echo "have += $${object%.o}"; done; } >$@
endif

# Programs outside this project may include any header, with nothing before it.
check-local: check-abi-headers
check-abi-headers: $(abi_headers)
	$(AM_V_GEN)for header in $(abi_headers); do \
		$(CC) -std=c99 -Wall -Wextra $(WERROR_CFLAGS) -fsyntax-only -I$(srcdir)/kmod -xc $$header || exit; \
	done

clean-local: clean-kmod-module
clean-kmod-module:
	rm -rf kmod/module kmod/tried

# ---- the bundled LWK (kmod/lwk) and its proxy (kmod/lwkexec) ----

# The LWK runs without an operating system: its flags differ from those of the programs.
lwk_headers = $(wildcard $(srcdir)/kmod/lwk/*.h $(srcdir)/kmod/lwk/*/*.h) $(abi_headers)
lwk_objects = $(patsubst $(srcdir)/%.S,%.o,$(wildcard $(srcdir)/kmod/lwk/*/*.S)) \
	$(patsubst $(srcdir)/%.c,%.o,$(filter-out %/vdso.c,$(wildcard $(srcdir)/kmod/lwk/*/*.c)))
lwk_cflags = -std=gnu11 -O2 -g -Wall -Wextra $(WERROR_CFLAGS) -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wno-unused-parameter -ffreestanding -fno-pic -no-pie \
	-mcmodel=kernel -mno-red-zone -mgeneral-regs-only -fstack-protector-strong \
	-mstack-protector-guard=global -fcf-protection=none -fno-asynchronous-unwind-tables \
	-fno-tree-loop-distribute-patterns
lwk_compile = $(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(lwk_cflags) \
	-DLWK_VERSION='"slurm-lwk $(VERSION) LWK"' -I$(top_srcdir)/kmod

kmod/lwk/%.o: $(srcdir)/kmod/lwk/%.c $(lwk_headers)
	$(lwk_compile) -c $< -o $@
kmod/lwk/%.o: $(srcdir)/kmod/lwk/%.S $(lwk_headers)
	$(lwk_compile) -c $< -o $@
kmod/lwk/lwk.elf: $(lwk_objects) $(srcdir)/kmod/lwk/lwk.ld
	$(AM_V_CCLD)$(CC) -nostdlib -static -no-pie -Wl,-T,$(srcdir)/kmod/lwk/lwk.ld \
		-Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack \
		$(lwk_objects) -o $@

# The vDSO runs in programs, at any address, and has no data.
kmod/lwk/time/vdso.so: $(srcdir)/kmod/lwk/time/vdso.c $(srcdir)/kmod/lwk/time/vdso.ld $(lwk_headers)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) -Wshadow \
		-Wmissing-prototypes -Wno-unused-parameter -ffreestanding -fPIC -fvisibility=default \
		-fno-stack-protector -fcf-protection=none -fasynchronous-unwind-tables \
		-I$(top_srcdir)/kmod -shared -nostdlib \
		-Wl,-T,$(srcdir)/kmod/lwk/time/vdso.ld -Wl,-soname=linux-vdso.so.1 -Wl,--hash-style=both \
		-Wl,--eh-frame-hdr -Wl,--build-id=none -Wl,-Bsymbolic -Wl,-z,noexecstack -Wl,-z,text \
		-Wl,--no-undefined -Wl,-s $< -o $@
kmod/lwk/time/vdso-image.o: kmod/lwk/time/vdso.so

lwkimagedir = $(pkglibdir)
lwkimage_DATA += kmod/lwk/lwk.elf
CLEANFILES += kmod/lwk/lwk.elf kmod/lwk/time/vdso.so $(lwk_objects)
EXTRA_DIST += kmod/lwk

bin_PROGRAMS += kmod/lwkexec/lwkexec
kmod_lwkexec_lwkexec_SOURCES = \
	kmod/lwkexec/calls.c kmod/lwkexec/calls.h \
	kmod/lwkexec/main.c \
	kmod/lwkexec/base/descriptors.c kmod/lwkexec/base/descriptors.h \
	kmod/lwkexec/base/fail.c kmod/lwkexec/base/fail.h \
	kmod/lwkexec/base/numbers.h \
	kmod/lwkexec/instance/channel.c kmod/lwkexec/instance/channel.h \
	kmod/lwkexec/instance/copy.c kmod/lwkexec/instance/copy.h \
	kmod/lwkexec/instance/gone.c kmod/lwkexec/instance/gone.h \
	kmod/lwkexec/instance/interruptible.S \
	kmod/lwkexec/instance/linux_call.c kmod/lwkexec/instance/linux_call.h \
	kmod/lwkexec/instance/memory.c kmod/lwkexec/instance/memory.h \
	kmod/lwkexec/instance/report.c kmod/lwkexec/instance/report.h \
	kmod/lwkexec/instance/session.c kmod/lwkexec/instance/session.h \
	kmod/lwkexec/instance/window.c kmod/lwkexec/instance/window.h \
	kmod/lwkexec/process/exec.c kmod/lwkexec/process/exec.h \
	kmod/lwkexec/process/fork.c kmod/lwkexec/process/fork.h \
	kmod/lwkexec/process/share.c kmod/lwkexec/process/share.h \
	kmod/lwkexec/process/signals.c kmod/lwkexec/process/signals.h \
	kmod/lwkexec/process/threads.c kmod/lwkexec/process/threads.h \
	kmod/lwkexec/process/timers.c kmod/lwkexec/process/timers.h \
	kmod/lwkexec/program/elf_file.c kmod/lwkexec/program/elf_file.h \
	kmod/lwkexec/program/load.c kmod/lwkexec/program/load.h \
	kmod/lwkexec/program/mapped_files.c kmod/lwkexec/program/mapped_files.h \
	kmod/lwkexec/program/program.c kmod/lwkexec/program/program.h \
	kmod/lwkexec/program/script.c kmod/lwkexec/program/script.h \
	kmod/lwkexec/program/stack.c kmod/lwkexec/program/stack.h \
	kmod/lwkexec/view/lwk.c kmod/lwkexec/view/lwk.h \
	kmod/lwkexec/view/maps.c kmod/lwkexec/view/maps.h \
	kmod/lwkexec/view/meminfo.c kmod/lwkexec/view/meminfo.h \
	kmod/lwkexec/view/self.c kmod/lwkexec/view/self.h \
	kmod/lwkexec/view/status.c kmod/lwkexec/view/status.h \
	kmod/lwkexec/view/sys.c kmod/lwkexec/view/sys.h \
	kmod/lwkexec/view/text_file.c kmod/lwkexec/view/text_file.h
kmod_lwkexec_lwkexec_CFLAGS = $(AM_CFLAGS) $(PIE_FLAGS)
kmod_lwkexec_lwkexec_LDADD = $(ELF_LIBS)
