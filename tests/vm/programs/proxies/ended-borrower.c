/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ended-borrower DEVICE: a child of vfork(2) ends while the LWK waits for its proxy in munmap(2). Its parent has the
 * memory again: what it maps in that place is new.
 */
#define _GNU_SOURCE
#include "proxies/own-proxy.h"

#define MAPPED "0x100001000"
#define STACK (START + (12UL << 10))
#define RIGHT 7

/* Ends with RIGHT and the first byte of the new page. */
extern const char program[], program_end[];
__asm__(".pushsection .rodata\n"
	"program:\n"
	"	movabs $" MAPPED ", %rdi\n"
	"	mov $4096, %esi\n"
	"	mov $58, %eax\n" /* vfork */
	"	syscall\n"
	"	test %rax, %rax\n"
	"	js 2f\n"
	"	jnz 1f\n"
	"	mov $11, %eax\n" /* munmap */
	"	syscall\n"
	"	jmp 2f\n"
	"1:	mov $3, %edx\n"	    /* PROT_READ | PROT_WRITE */
	"	mov $0x32, %r10d\n" /* MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS */
	"	mov $-1, %r8\n"
	"	xor %r9d, %r9d\n"
	"	mov $9, %eax\n" /* mmap */
	"	syscall\n"
	"	cmp %rdi, %rax\n"
	"	jne 2f\n"
	"	movzbl (%rdi), %edi\n"
	"	add $7, %edi\n" /* RIGHT */
	"	jmp 3f\n"
	"2:	mov $1, %edi\n"
	"3:	mov $231, %eax\n" /* exit_group */
	"	syscall\n"
	"program_end:\n"
	".popsection\n");

static uint64_t offer[2];

static int borrow(void)
{
	struct lwk_packet unmap;

	CHECK(begin_anywhere() == 0);
	CHECK(ask(LWK_CALL_COPY, offer[0], offer[1]) == 0);
	CHECK(receive(&unmap) == 0);
	CHECK(unmap.kind == LWK_PACKET_REQUEST && unmap.nr == LWK_CALL_UNMAP);
	end_all();
	return 0;
}

static int lend(void)
{
	struct lwk_packet request;
	pid_t child;

	CHECK(begin_anywhere() == 0);
	CHECK(ask(LWK_CALL_MAP, START, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	memcpy((void *)START, program, program_end - program);
	/* The proxy has seen the page, so the LWK asks for it before others can have it. */
	memset((void *)(START + PAGE), 0x55, PAGE);
	CHECK(ask(LWK_CALL_START, START, STACK) == 0);
	CHECK(next_request(&request, LWK_CALL_FORK) == 0 && request.args[2] == 1);
	memcpy(offer, request.args, sizeof(offer));
	CHECK(in_child(&child, borrow) == 0);
	reply(request.id, child);
	CHECK(next_request(&request, LWK_CALL_FORK_WAIT) == 0);
	reply(request.id, 0);
	CHECK(ends_with(RIGHT << 8) == 0);
	end_all();
	return 0;
}

static const struct test tests[] = { { "lend", lend } };

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	path = argv[1];
	handle_alarms();
	return RUN_TESTS(tests, NULL);
}
