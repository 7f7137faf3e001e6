# SPDX-License-Identifier: GPL-2.0-or-later
# The parts of slurm-lwk in user space. The kernel module is root's: doc/install.md.

from spack.package import *


class SlurmLwk(AutotoolsPackage):
    """Runs light-weight kernels (LWKs) as ordinary Slurm jobs."""

    # The tarball of "make dist", or any folder by: spack develop --path FOLDER slurm-lwk@0.3.0
    url = "file:///usr/src/slurm-lwk-0.3.0.tar.xz"
    license("GPL-2.0-or-later")

    version("0.3.0")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("slurm@20.11:26.05")
    depends_on("hwloc@2:")
    depends_on("json-c")
    depends_on("inih")
    depends_on("elf")
    depends_on("ncurses")
    depends_on("numactl")
    depends_on("libseccomp@2.5:")

    requires("target=x86_64:", "platform=linux")

    def configure_args(self):
        # Name this folder in PluginDir= of slurm.conf.
        return ["--with-kernel=no", "--disable-vm-tests", f"--with-slurm-plugindir={self.prefix.lib.slurm}"]
