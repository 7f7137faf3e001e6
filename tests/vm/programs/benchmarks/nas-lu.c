/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nas-lu: symmetric successive over-relaxation as the LU application of the NAS Parallel Benchmarks
 * has it (Bailey et al., RNR-94-007, section 4.7): five unknowns in each cell of a grid, coupled by
 * 5x5 blocks with the six neighbours; a sweep in the order of the cells solves with the lower
 * blocks, one back with the upper ones, each over-relaxed by 1.2. The system is linear here, and
 * made for a solution that is known: residuals must shrink, and the solution must be found.
 */
#include <math.h>
#include <stdio.h>

#define CELLS 14 /* in each direction, boundary included */
#define N 5
#define OMEGA 1.2
#define ITERATIONS 15

typedef double vector[N];
typedef double block[N][N];

static vector u[CELLS][CELLS][CELLS], exact[CELLS][CELLS][CELLS], forcing[CELLS][CELLS][CELLS];
static vector residual[CELLS][CELLS][CELLS];
/* Each cell has these: its own block, with its inverse, and one for each neighbour. */
static block own, own_inverse, neighbour[6];
static const int step[6][3] = { { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 },
				{ 1, 0, 0 },  { 0, 1, 0 },  { 0, 0, 1 } };
#define LOWER 0
#define UPPER 3

/* Diffusion, transport that differs by direction, and a coupling of the unknowns. */
static void make_blocks(void)
{
	for (int d = 0; d < 6; d++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				neighbour[d][i][j] = i == j ? -1 + (d < UPPER ? -0.3 : 0.3)
							    : 0.02 * (d + 1) / (1 + i + j);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			own[i][j] = i == j ? 7 : 0.1 * (i - j) / N;
}

/* Gauss-Jordan; the diagonal is the largest. */
static void invert(block from, block to)
{
	block work;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			work[i][j] = from[i][j];
			to[i][j] = i == j;
		}
	for (int p = 0; p < N; p++) {
		double pivot = work[p][p];

		for (int j = 0; j < N; j++) {
			work[p][j] /= pivot;
			to[p][j] /= pivot;
		}
		for (int i = 0; i < N; i++) {
			double factor = work[i][p];

			for (int j = 0; j < N && i != p; j++) {
				work[i][j] -= factor * work[p][j];
				to[i][j] -= factor * to[p][j];
			}
		}
	}
}

static void multiply_add(const block matrix, const vector x, double factor, vector sum)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum[i] += factor * matrix[i][j] * x[j];
}

/* forcing - A x, or A x alone. */
static void apply(vector x[CELLS][CELLS][CELLS], double sign, vector y[CELLS][CELLS][CELLS])
{
	for (int i = 1; i < CELLS - 1; i++)
		for (int j = 1; j < CELLS - 1; j++)
			for (int k = 1; k < CELLS - 1; k++) {
				for (int m = 0; m < N; m++)
					y[i][j][k][m] = sign < 0 ? forcing[i][j][k][m] : 0;
				multiply_add(own, x[i][j][k], sign, y[i][j][k]);
				for (int d = 0; d < 6; d++)
					multiply_add(
						neighbour[d],
						x[i + step[d][0]][j + step[d][1]][k + step[d][2]],
						sign, y[i][j][k]);
			}
}

/* Solves with the own blocks and three of the neighbours', which come before in this order. */
static void relax(int i, int j, int k, int first)
{
	vector sum = { 0 }, found = { 0 };
	double *r = residual[i][j][k];

	for (int m = 0; m < N && first == LOWER; m++)
		sum[m] = r[m];
	for (int d = first; d < first + 3; d++)
		multiply_add(neighbour[d], residual[i + step[d][0]][j + step[d][1]][k + step[d][2]],
			     first == LOWER ? -OMEGA : OMEGA, sum);
	multiply_add(own_inverse, sum, 1, found);
	for (int m = 0; m < N; m++)
		r[m] = first == LOWER ? found[m] : r[m] - found[m];
}

/* (D + wL) D^-1 (D + wU) du = w (2 - w) r, in place of r. */
static void sweep(void)
{
	for (int i = 1; i < CELLS - 1; i++)
		for (int j = 1; j < CELLS - 1; j++)
			for (int k = 1; k < CELLS - 1; k++)
				relax(i, j, k, LOWER);
	for (int i = CELLS - 2; i > 0; i--)
		for (int j = CELLS - 2; j > 0; j--)
			for (int k = CELLS - 2; k > 0; k--) {
				relax(i, j, k, UPPER);
				for (int m = 0; m < N; m++)
					u[i][j][k][m] += OMEGA * (2 - OMEGA) * residual[i][j][k][m];
			}
}

/* Sets 'norm' to the root mean square of x - y over the inner cells, for each unknown. */
static void difference(vector x[CELLS][CELLS][CELLS], vector y[CELLS][CELLS][CELLS], vector norm)
{
	for (int m = 0; m < N; m++) {
		double sum = 0;

		for (int i = 1; i < CELLS - 1; i++)
			for (int j = 1; j < CELLS - 1; j++)
				for (int k = 1; k < CELLS - 1; k++) {
					double d = x[i][j][k][m] - (y ? y[i][j][k][m] : 0);

					sum += d * d;
				}
		norm[m] = sqrt(sum / pow(CELLS - 2, 3));
	}
}

/* A polynomial of each unknown; the boundary has the solution, the rest nothing at first. */
static void make_solution(void)
{
	for (int i = 0; i < CELLS; i++)
		for (int j = 0; j < CELLS; j++)
			for (int k = 0; k < CELLS; k++)
				for (int m = 0; m < N; m++) {
					double x = i / (CELLS - 1.0), y = j / (CELLS - 1.0),
					       z = k / (CELLS - 1.0);

					exact[i][j][k][m] = 1 + m * x - y * y * (m + 1) +
							    z * z * z * x - 0.5 * m * x * y * z;
				}
	apply(exact, 1, forcing);
	for (int i = 0; i < CELLS; i++)
		for (int j = 0; j < CELLS; j++)
			for (int k = 0; k < CELLS; k++)
				for (int m = 0; m < N; m++)
					if (i % (CELLS - 1) == 0 || j % (CELLS - 1) == 0 ||
					    k % (CELLS - 1) == 0)
						u[i][j][k][m] = exact[i][j][k][m];
}

int main(void)
{
	vector before, after, error;
	int wrong = 0;

	make_blocks();
	invert(own, own_inverse);
	make_solution();
	apply(u, -1, residual);
	difference(residual, NULL, before);
	for (int i = 0; i < ITERATIONS; i++) {
		sweep();
		apply(u, -1, residual);
	}
	difference(residual, NULL, after);
	difference(u, exact, error);
	for (int m = 0; m < N; m++) {
		printf("residual %.9e to %.9e, error %.9e\n", before[m], after[m], error[m]);
		wrong |= !(after[m] < 1e-7 * before[m] && error[m] < 1e-7);
	}
	puts(wrong ? "wrong" : "verified");
	return wrong;
}
