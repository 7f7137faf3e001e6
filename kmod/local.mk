# SPDX-License-Identifier: GPL-2.0-or-later
# lwkpart.ko. kmod/Makefile builds it in kmod/module of the build tree.

abi_headers = $(wildcard $(srcdir)/kmod/abi/*.h $(srcdir)/kmod/abi/*/*.h)
EXTRA_DIST += kmod/Makefile kmod/abi kmod/dkms.conf kmod/lwkpart kmod/tries

if HAVE_KERNEL
kmod_moduledir = /lib/modules/$(KERNEL_RELEASE)/updates
kmod_module_DATA = kmod/module/lwkpart.ko

# kmod/Makefile knows what the module is made of, and whether there is anything to do.
.PHONY: kmod/module/lwkpart.ko
kmod/module/lwkpart.ko:
	$(AM_V_GEN)$(MAKE) -f $(abs_srcdir)/kmod/Makefile KERNEL_BUILD=$(KERNEL_BUILD) \
		OUT=$(abs_top_builddir)/kmod/module VERSION=$(VERSION) WERROR_CFLAGS=$(WERROR_CFLAGS) \
		CONFIGURED=$(abs_top_builddir)/Makefile

# Debug information stays in the build tree, where gdb finds it. A package runs depmod on the node.
after_install += install-module
install-module:
	strip --strip-debug $(DESTDIR)$(kmod_moduledir)/lwkpart.ko
	test -n "$(DESTDIR)" || depmod $(KERNEL_RELEASE)
after_uninstall += uninstall-module
uninstall-module:
	test -n "$(DESTDIR)" || depmod $(KERNEL_RELEASE)
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
lwk_compile = $(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) $(lwk_cflags) $(PREFIX_MAP_CFLAGS) \
	-DLWK_VERSION='"slurm-lwk $(VERSION) LWK"' -I$(top_srcdir)/kmod

kmod/lwk/%.o: $(srcdir)/kmod/lwk/%.c $(lwk_headers)
	$(lwk_compile) -c $< -o $@
kmod/lwk/%.o: $(srcdir)/kmod/lwk/%.S $(lwk_headers)
	$(lwk_compile) -c $< -o $@
lwk_link = $(AM_V_CCLD)$(CC) -nostdlib -static -no-pie -Wl,-T,$(srcdir)/kmod/lwk/lwk.ld \
	-Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack
kmod/lwk/lwk.elf: $(lwk_objects) $(srcdir)/kmod/lwk/lwk.ld
	$(lwk_link) $(lwk_objects) -o $@

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

# lwk.conf names the image's place, so that does not depend on the machine's libdir.
lwkimagedir = $(prefix)/lib/slurm-lwk
lwkimage_DATA += kmod/lwk/lwk.elf

# Each switch reads the image, so its debug information is in a file beside it, which gdb finds.
after_install += install-image
install-image:
	cd $(DESTDIR)$(lwkimagedir) && objcopy --only-keep-debug lwk.elf lwk.elf.debug && \
		objcopy --strip-debug --add-gnu-debuglink=lwk.elf.debug lwk.elf
after_uninstall += uninstall-image
uninstall-image:
	rm -f $(DESTDIR)$(lwkimagedir)/lwk.elf.debug
CLEANFILES += kmod/lwk/lwk.elf kmod/lwk/time/vdso.so $(lwk_objects)
EXTRA_DIST += kmod/lwk

bin_PROGRAMS += kmod/lwkexec/lwkexec
kmod_lwkexec_lwkexec_SOURCES = \
	kmod/lwkexec/calls.c \
	kmod/lwkexec/cpu_share.c \
	kmod/lwkexec/main.c \
	kmod/lwkexec/base/descriptors.c \
	kmod/lwkexec/base/divide.c \
	kmod/lwkexec/base/fail.c \
	kmod/lwkexec/base/numbers.c \
	kmod/lwkexec/instance/channel.c \
	kmod/lwkexec/instance/copy.c \
	kmod/lwkexec/instance/gone.c \
	kmod/lwkexec/instance/interruptible.S \
	kmod/lwkexec/instance/linux_call.c \
	kmod/lwkexec/instance/may_wait.c \
	kmod/lwkexec/instance/memory.c \
	kmod/lwkexec/instance/report.c \
	kmod/lwkexec/instance/session.c \
	kmod/lwkexec/instance/window.c \
	kmod/lwkexec/process/cause.c \
	kmod/lwkexec/core/core.c \
	kmod/lwkexec/core/core_path.c \
	kmod/lwkexec/process/direct.c \
	kmod/lwkexec/process/exec.c \
	kmod/lwkexec/process/fork.c \
	kmod/lwkexec/process/identity.c \
	kmod/lwkexec/process/limits.c \
	kmod/lwkexec/process/share.c \
	kmod/lwkexec/process/signals.c \
	kmod/lwkexec/process/splice.c \
	kmod/lwkexec/process/threads.c \
	kmod/lwkexec/process/timed.c \
	kmod/lwkexec/process/timers.c \
	kmod/lwkexec/program/elf_file.c \
	kmod/lwkexec/program/load.c \
	kmod/lwkexec/program/mapped_files.c \
	kmod/lwkexec/program/program.c \
	kmod/lwkexec/program/script.c \
	kmod/lwkexec/program/stack.c \
	kmod/lwkexec/view/lwk.c \
	kmod/lwkexec/view/maps.c \
	kmod/lwkexec/view/meminfo.c \
	kmod/lwkexec/view/self.c \
	kmod/lwkexec/view/status.c \
	kmod/lwkexec/view/sys.c \
	kmod/lwkexec/view/text_file.c
kmod_lwkexec_lwkexec_CFLAGS = $(AM_CFLAGS) $(STATIC_PIE_FLAGS)
kmod_lwkexec_lwkexec_LDADD =
