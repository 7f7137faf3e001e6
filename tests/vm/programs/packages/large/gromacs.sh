#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# gromacs.sh THREADS: some steps of a box of water; prints its energies.
export GMX_MAXBACKUP=-1
cat >topol.top <<'END'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
END
cat >steps.mdp <<'END'
integrator = md
nsteps = 20
dt = 0.001
cutoff-scheme = Verlet
coulombtype = PME
gen-vel = yes
gen-seed = 1
nstenergy = 10
END
{
	gmx solvate -cs spc216 -box 2.2 2.2 2.2 -o water.gro -p topol.top &&
		gmx grompp -f steps.mdp -c water.gro -p topol.top -o run.tpr -maxwarn 5 &&
		gmx mdrun -s run.tpr -ntmpi 1 -ntomp "$1" -nb cpu -reprod -g run.log
} >gromacs.out 2>&1 || { tail -n 20 gromacs.out; exit 1; }
sed -n '/Averages/,$d; /Potential/{n; s/ *\([-0-9.e+]*\).*/\1/p}' run.log | cut -c 1-9
