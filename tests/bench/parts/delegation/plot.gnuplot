# SPDX-License-Identifier: GPL-2.0-or-later
# The pictures of tests/bench/delegation. Runs where the data are.
set terminal pngcairo size 900,600
set grid
set key top right

set output "read.png"
set title "A read of one byte (64 cycles to 16 million, logarithmic)"
set xlabel "TSC cycles"
set ylabel "share of the calls"
set logscale x
plot for [how in "linux server kernel proxy futex eventfd"] how.".data" using 1:2 with steps lw 2 title how
unset logscale x

set output "growth.png"
set title "Time of a read with many programs at once, by one (paper: 1.36, 1.50 and 1.76 for 2, 4 and 6)"
set xlabel "programs"
set ylabel "time, one program = 1"
set yrange [0:*]
$paper << EOD
1 1
2 1.36
4 1.50
6 1.76
EOD
plot for [i=0:2] "growth.data" index i using 1:2 with linespoints title columnheader(1), \
	$paper using 1:2 with linespoints dashtype 2 title "the paper"
