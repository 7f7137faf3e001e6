# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of tests/bench/proxies. Runs where the data are.
set terminal pngcairo size 1200,500
set output "proxies.png"
set title "The Linux-only job on the OS cores beside an LWK job that reads without pause (alone: 1)"
set style data histograms
set style histogram clustered gap 2
set style fill solid 0.7 border
set ylabel "work by the speed of the cores"
set yrange [0:*]
set grid ytics
set key outside right
set xtics rotate by -35
plot for [i=2:5] "ratios.data" using i:xtic(1) title columnheader(i), 0.95 with lines dashtype 2 linecolor "black" notitle
