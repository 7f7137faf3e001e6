/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept-window DEVICE: a process gives back memory that its proxy has seen, and the proxy says that it has removed
 * its mapping, but has not. Prints "kept", and reads all of it again and again until its input ends. Fails when
 * it finds anything but what it wrote itself, or when something is still there at the end.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>

#include "proxies/own-proxy.h"

#define GIVEN 0x140000000UL
#define GIVEN_SIZE (64UL << 20)
#define OWN 0x5555555555555555UL
#define RIGHT 7

/* Ends with RIGHT, or the error of munmap(2). */
extern const char program[], program_end[];
__asm__(".pushsection .rodata\n"
	"program:\n"
	"	movabs $0x140000000, %rdi\n" /* GIVEN */
	"	mov $0x4000000, %esi\n"	     /* GIVEN_SIZE */
	"	mov $11, %eax\n"	     /* munmap */
	"	syscall\n"
	"	lea 7(%rax), %edi\n" /* RIGHT */
	"	mov $231, %eax\n"    /* exit_group */
	"	syscall\n"
	"program_end:\n"
	".popsection\n");

static sigjmp_buf gone;

static void on_gone(int signal)
{
	(void)signal;
	siglongjmp(gone, 1);
}

/* Returns how many pages have what this program wrote; -1 when one has something else. */
static long count_own(void)
{
	volatile long own = 0;

	for (volatile size_t at = GIVEN + 8; at < GIVEN + GIVEN_SIZE; at += PAGE) {
		if (sigsetjmp(gone, 1))
			continue;
		if (*(volatile uint64_t *)at != OWN)
			return -1;
		own++;
	}
	return own;
}

/* True when the input has ended. */
static int over(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) != 0;
}

static int keep(void)
{
	struct lwk_packet packet;
	long passes = 0;

	CHECK(begin_anywhere() == 0);
	CHECK(mmap((void *)GIVEN, GIVEN_SIZE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED_NOREPLACE, device,
		   LWK_MMAP_WINDOW + GIVEN - LWK_USER_START) == (void *)GIVEN);
	CHECK(ask(LWK_CALL_MAP, START, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	CHECK(ask(LWK_CALL_MAP, GIVEN, GIVEN_SIZE, PROT_READ | PROT_WRITE) == 0);
	memcpy((void *)START, program, program_end - program);
	for (size_t at = GIVEN + 8; at < GIVEN + GIVEN_SIZE; at += PAGE)
		*(volatile uint64_t *)at = OWN;
	CHECK(ask(LWK_CALL_START, START, START + SIZE) == 0);
	CHECK(receive(&packet) == 0);
	CHECK(packet.kind == LWK_PACKET_REQUEST && packet.nr == LWK_CALL_UNMAP);
	CHECK(packet.args[0] == GIVEN && packet.args[1] == GIVEN_SIZE);
	reply(packet.id, 0);
	CHECK(ends_with(RIGHT << 8) == 0);
	CHECK(count_own() == GIVEN_SIZE / PAGE);
	puts("kept");
	fflush(stdout);
	do {
		CHECK(count_own() >= 0);
		passes++;
	} while (!over());
	CHECK(count_own() == 0);
	printf("nothing left after %ld passes\n", passes);
	return 0;
}

static const struct test tests[] = { { "keep", keep } };

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_gone };

	CHECK(argc == 2);
	path = argv[1];
	handle_alarms();
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	return RUN_TESTS(tests, NULL);
}
