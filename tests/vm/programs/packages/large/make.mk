# SPDX-License-Identifier: GPL-2.0-or-later
# Six objects that make -j compiles at a time, and a program of them.
parts = 1 2 3 4 5 6
made: $(parts:%=part-%.o)
	gcc -o $@ $^
part-1.c: ; printf '#include <stdio.h>\n%s\nint main(void){ printf("%%d\\n", $(foreach n,2 3 4 5 6,part$n() +) 1); }\n' '$(foreach n,2 3 4 5 6,int part$n(void);)' >$@
part-%.c: ; printf 'int part$*(void) { return $* * $*; }\n' >$@
%.o: %.c ; gcc -O2 -c -o $@ $<
