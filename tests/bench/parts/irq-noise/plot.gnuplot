# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of tests/bench/irq-noise: bars for each CPU, one panel for each job. Runs where the data are.
set terminal pngcairo size 900,900
set output "irq-noise.png"
set multiplot layout 2,1 title "Device interrupts beside iperf3 traffic"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.6
set xlabel "CPU"
set ylabel "interrupts per second"
set yrange [0:*]
set key top right
set title "a job on CPUs 1 and 2; CPU 0 is the OS CPU, 3 is spare"
plot for [i=2:4] "part.data" using i:xtic(1) title columnheader(i)
set title "a job on all CPUs"
plot for [i=2:4] "all.data" using i:xtic(1) title columnheader(i)
unset multiplot
