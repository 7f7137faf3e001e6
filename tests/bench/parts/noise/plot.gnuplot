# SPDX-License-Identifier: GPL-2.0-or-later
# The picture of tests/bench/noise: a histogram for each kind of CPU, one above the other.
set terminal pngcairo size 900,900
set output "noise.png"
set multiplot layout 3,1 title "Fixed work quanta: how much longer than the quickest each took"
set logscale y
set yrange [0.5:*]
set xrange [1:3]
set style fill solid 0.6
set boxwidth 0.02
set ylabel "quanta"
set xlabel "times the quickest (3: and more)"
do for [kind in "lwk isolated plain"] {
	plot kind.".data" using 1:2 with boxes title system("cat ".kind.".title")
}
unset multiplot
