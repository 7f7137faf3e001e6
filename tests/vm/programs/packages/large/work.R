# SPDX-License-Identifier: GPL-2.0-or-later
# Linear algebra, a fit, and processes of the package parallel.
set.seed(1)
x <- matrix(rnorm(10000), 100)
cat(format(sum(svd(x)$d), digits = 10), "\n")
fit <- lm(dist ~ speed, cars)
print(round(coef(fit), 4))
print(unlist(parallel::mclapply(1:4, function(i) i^2, mc.cores = 2)))
