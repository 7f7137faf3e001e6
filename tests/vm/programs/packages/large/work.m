% SPDX-License-Identifier: GPL-2.0-or-later
a = reshape (sin (1:40000), 200, 200);
printf ("%.6f %.6f %.6f\n", norm (a * a'), sum (abs (fft (a(:,1)))), max (real (eig (a))));
[status, text] = system ("echo child");
printf ("%d %s", status, text);
