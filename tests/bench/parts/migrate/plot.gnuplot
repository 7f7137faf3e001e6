# SPDX-License-Identifier: GPL-2.0-or-later
# The pictures of tests/bench/migrate, beside the figures of Urushida and Hirotsu's paper. Runs where the
# data are, and is told of which there are any.
set terminal pngcairo noenhanced size 900,600
set key top right
set grid

set output "figure8-cost.png"
set title "CPU time to move everything, by migrate_pages(2) (paper: figure 8, by 4200 ms for 8 GB)"
set xlabel "n (pages)"
set ylabel "CPU time, migrate_pages = 1"
set logscale x
set yrange [0:*]
if (exists("cost")) plot for [i=0:3] "cost.data" index i using 1:2 with linespoints title columnheader(1), 1 dashtype 2 title "kernel"
unset logscale x

set output "figure9-local.png"
set title "Latency of accesses (paper: figure 9, local after 36 s periodical, 18 s severe and mild)"
set xlabel "seconds"
set ylabel "ns"
set yrange [65:130]
if (exists("local")) plot for [i=0:3] "local.data" index i using 1:3 with lines title columnheader(1), 73 dashtype 2 title "local", 121 dashtype 2 title "remote"

set output "limits.png"
set title "CPU share: asked for and got"
set xlabel "asked for (%)"
set ylabel "got (%)"
set yrange [*:*]
if (exists("limits")) plot "limits.data" using 1:2 with linespoints title "adaptive", x dashtype 2 title "exact"

set style data histograms
set style fill solid 0.6
set boxwidth 0.8
set yrange [0:*]
set xlabel ""
set output "figure3-sysbench.png"
set title "sysbench on all CPUs beside a migration (paper: figure 3, 87.5 % on 8 cores, 75 % on 4)"
set ylabel "% of alone"
if (exists("beside")) plot "beside.data" using 2:xtic(1) notitle

set output "figure10-udp.png"
set title "UDP received beside a migration (paper: figure 10, ours 2.5 % of the kernel's loss)"
set ylabel "% lost"
if (exists("beside")) plot "beside.data" using 3:xtic(1) notitle
