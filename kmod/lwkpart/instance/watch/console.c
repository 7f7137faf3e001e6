// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies console text for Linux's users. The LWK may write anything: each byte is read once,
 * lengths are bounded, and the text is made printable.
 */
#include "instance/watch/console.h"

#include <linux/ctype.h>
#include <linux/uaccess.h>

#include "abi/shared/console.h"

#define CHUNK 256

u32 console_read(const struct instance *instance, u64 *position, char *text, u32 size)
{
	u64 head, at = *position;
	u32 i, count;

	if (!instance->console)
		return 0; /* nothing is loaded */
	head = READ_ONCE(instance->console->head);
	if (at > head)
		at = head;
	if (head - at > LWK_CONSOLE_BYTES)
		at = head - LWK_CONSOLE_BYTES;
	count = min_t(u64, head - at, size);
	for (i = 0; i < count; i++) {
		char c = READ_ONCE(instance->console->text[(at + i) % LWK_CONSOLE_BYTES]);

		text[i] = (isascii(c) && isprint(c)) || c == '\n' || c == '\t' ? c : '?';
	}
	*position = at + count;
	return count;
}

int console_copy(struct instance *instance, struct lwkpart_kmsg *request)
{
	char __user *to = u64_to_user_ptr(request->buffer);
	/* An LWK that goes on writing must not keep the caller here. */
	u32 most = min_t(u32, request->capacity, LWK_CONSOLE_BYTES);
	u64 position = request->position;
	char chunk[CHUNK];
	u32 count;

	request->length = 0;
	do {
		down_read(&instance->rwsem);
		count = console_read(instance, &position, chunk,
				     min_t(u32, sizeof(chunk), most - request->length));
		up_read(&instance->rwsem);
		if (copy_to_user(to + request->length, chunk, count))
			return -EFAULT;
		request->length += count;
	} while (count);
	request->position = position;
	/* Readers may race; then LWK_EVENT_CONSOLE may be sent once more, which is harmless. */
	if (position > READ_ONCE(instance->console_at.read))
		WRITE_ONCE(instance->console_at.read, position);
	return 0;
}
