/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mute-files DIRECTORY [direct]: mounts a file system there, by /dev/fuse, with one large file "file"
 * that repeats one letter; with "direct" Linux caches nothing of it. Stopping this process makes the
 * file system hang.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_NODE 2
#define FILE_SIZE (1ULL << 40)
#define LARGEST (1U << 20)

static char request[LARGEST + 4096] __attribute__((aligned(8)));
static char letters[LARGEST];
static uint32_t open_flags;

static void answer(int fuse, int error, const void *data, size_t size)
{
	const struct fuse_in_header *in = (const void *)request;
	struct fuse_out_header out = { sizeof(out) + size, error, in->unique };
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)data, size } };

	/* The kernel says so of a request whose process was killed meanwhile. */
	if (writev(fuse, parts, 2) < 0 && errno != ENOENT)
		err(1, "answer to request %u", in->opcode);
}

static struct fuse_attr attributes(uint64_t node)
{
	return node == FUSE_ROOT_ID
		       ? (struct fuse_attr){ .ino = node, .mode = S_IFDIR | 0755, .nlink = 2 }
		       : (struct fuse_attr){
				 .ino = node, .size = FILE_SIZE, .mode = S_IFREG | 0444, .nlink = 1
			 };
}

static void begin(int fuse, const struct fuse_init_in *in)
{
	struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = in->max_readahead,
				     /* Each read asks here whether the file has changed. */
				     .flags = FUSE_AUTO_INVAL_DATA,
				     .max_write = 4096 };

	answer(fuse, 0, &out, sizeof(out));
}

static void find(int fuse, const char *name)
{
	struct fuse_entry_out out = { .nodeid = FILE_NODE, .attr = attributes(FILE_NODE) };

	if (strcmp(name, "file") != 0)
		answer(fuse, -ENOENT, NULL, 0);
	else
		answer(fuse, 0, &out, sizeof(out));
}

static void handle(int fuse)
{
	const struct fuse_in_header *in = (const void *)request;
	const void *body = in + 1;
	struct fuse_attr_out attr = { .attr = attributes(in->nodeid) };
	struct fuse_open_out file = { .open_flags = open_flags };

	switch (in->opcode) {
	case FUSE_INIT:
		begin(fuse, body);
		break;
	case FUSE_LOOKUP:
		find(fuse, body);
		break;
	case FUSE_GETATTR:
		answer(fuse, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fuse, 0, &file, sizeof(file));
		break;
	case FUSE_READ:
		answer(fuse, 0, letters, ((const struct fuse_read_in *)body)->size);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(fuse, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fuse, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char options[100];
	int fuse = open("/dev/fuse", O_RDWR);

	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "direct") != 0))
		errx(1, "usage: mute-files DIRECTORY [direct]");
	if (argc == 3)
		open_flags = FOPEN_DIRECT_IO;
	memset(letters, 'm', sizeof(letters));
	if (fuse < 0)
		err(1, "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fuse);
	if (mount("mute-files", argv[1], "fuse", MS_NODEV | MS_NOSUID, options) < 0)
		err(1, "%s cannot be mounted", argv[1]);
	while (read(fuse, request, sizeof(request)) > 0)
		handle(fuse);
	/* Nothing comes any more once the directory is unmounted. */
	return errno != ENODEV;
}
