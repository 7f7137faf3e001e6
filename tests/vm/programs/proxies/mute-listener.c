/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mute-listener DIRECTORY: is asked whether files of the directory's mount may be read, and never
 * answers. Prints who asks.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <unistd.h>

static void print_name(int pid)
{
	char path[64], name[32] = "nobody\n";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "r");
	if (file) {
		if (!fgets(name, sizeof(name), file))
			name[0] = '\n';
		fclose(file);
	}
	printf("asked by %s", name);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct fanotify_event_metadata events[16], *event;
	int listener = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);
	ssize_t size;

	if (argc != 2 || listener < 0 ||
	    fanotify_mark(listener, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_ACCESS_PERM, AT_FDCWD,
			  argv[1]))
		err(1, "expected a directory that can be listened to as root");
	puts("listening");
	fflush(stdout);
	while ((size = read(listener, events, sizeof(events))) > 0) {
		for (event = events; FAN_EVENT_OK(event, size);
		     event = FAN_EVENT_NEXT(event, size)) {
			print_name(event->pid);
			close(event->fd);
		}
	}
	return 1;
}
