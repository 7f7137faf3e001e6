/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An AA tree: an area has a level, that of a left child is one less, that of a right child the same
 * or one less, and that of a right child's right child is less. So a path from the root is at most
 * twice as long as the shortest one, and the recursion is as deep as that: 40 for a million areas.
 */
#include "lwk/memory/tree.h"

/* After so many gaps that alignment makes too small, only a gap that surely suffices is tried. */
#define TRIES 64

static u64 gap_below(const struct area *area)
{
	return area->start - (area->previous ? area->previous->end : 0);
}

static void refresh(struct area *top)
{
	top->room = gap_below(top);
	if (top->left)
		top->room = MAX(top->room, top->left->room);
	if (top->right)
		top->room = MAX(top->room, top->right->room);
}

static struct area *skew(struct area *top)
{
	struct area *left = top->left;

	if (!left || left->level != top->level)
		return top;
	top->left = left->right;
	left->right = top;
	refresh(top);
	refresh(left);
	return left;
}

static struct area *split(struct area *top)
{
	struct area *right = top->right;

	if (!right || !right->right || right->right->level != top->level)
		return top;
	top->right = right->left;
	right->left = top;
	right->level++;
	refresh(top);
	refresh(right);
	return right;
}

static struct area *insert(struct area *top, struct area *area)
{
	if (!top) {
		area->left = area->right = NULL;
		area->level = 1;
		refresh(area);
		return area;
	}
	if (area->start < top->start)
		top->left = insert(top->left, area);
	else
		top->right = insert(top->right, area);
	refresh(top);
	return split(skew(top));
}

/* Restores the rules of the tree below 'top' after a child of it has lost an area. */
static struct area *restore(struct area *top)
{
	u32 left = top->left ? top->left->level : 0, right = top->right ? top->right->level : 0;
	u32 level = MIN(left, right) + 1;

	if (level < top->level) {
		top->level = level;
		if (level < right)
			top->right->level = level;
	}
	refresh(top);
	top = skew(top);
	if (top->right) {
		top->right = skew(top->right);
		if (top->right->right)
			top->right->right = skew(top->right->right);
	}
	top = split(top);
	if (top->right)
		top->right = split(top->right);
	return top;
}

/* The list has lost the area already, but the area knows its neighbours. */
static struct area *take_out(struct area *top, const struct area *area)
{
	struct area *heir, *left, *right;

	if (area->start < top->start) {
		top->left = take_out(top->left, area);
	} else if (area->start > top->start) {
		top->right = take_out(top->right, area);
	} else if (!top->left && !top->right) {
		return NULL;
	} else {
		heir = top->left ? top->previous : top->next;
		left = top->left ? take_out(top->left, heir) : NULL;
		right = top->left ? top->right : take_out(top->right, heir);
		heir->left = left;
		heir->right = right;
		heir->level = top->level;
		top = heir;
	}
	return restore(top);
}

/* The gap below the area has changed. */
static void refresh_path(struct area *top, const struct area *area)
{
	if (area->start < top->start)
		refresh_path(top->left, area);
	else if (area->start > top->start)
		refresh_path(top->right, area);
	refresh(top);
}

struct area *tree_last(const struct space *space)
{
	struct area *area = space->tree;

	while (area && area->right)
		area = area->right;
	return area;
}

void tree_add(struct space *space, struct area *area)
{
	area->next = area_from(space, area->start);
	area->previous = area->next ? area->next->previous : tree_last(space);
	if (area->previous)
		area->previous->next = area;
	else
		space->areas = area;
	if (area->next)
		area->next->previous = area;
	/* The next area, whose gap is less now, is on the path to the new leaf. */
	space->tree = insert(space->tree, area);
}

void tree_remove(struct space *space, struct area *area)
{
	if (area->previous)
		area->previous->next = area->next;
	else
		space->areas = area->next;
	if (area->next)
		area->next->previous = area->previous;
	space->tree = take_out(space->tree, area);
	if (area->next)
		refresh_path(space->tree, area->next);
}

void tree_set_edges(struct space *space, struct area *area, u64 start, u64 end)
{
	bool lower = start != area->start;

	area->start = start;
	area->end = end;
	if (lower)
		refresh_path(space->tree, area);
	if (area->next)
		refresh_path(space->tree, area->next);
}

struct search {
	u64 floor, ceiling, size, align;
	u64 gap; /* smaller ones are not tried */
	u32 tries;
};

static u64 room_between(struct search *search, u64 floor, u64 ceiling)
{
	u64 at;

	floor = MAX(floor, search->floor);
	ceiling = MIN(ceiling, search->ceiling);
	if (ceiling <= search->size)
		return 0;
	at = ALIGN_DOWN(ceiling - search->size, search->align);
	if (at >= floor)
		return at;
	if (++search->tries == TRIES)
		search->gap += search->align;
	return 0;
}

static u64 room_below(struct search *search, const struct area *top)
{
	u64 at;

	if (!top || top->room < search->gap)
		return 0;
	if (top->previous && top->previous->end >= search->ceiling)
		return room_below(search, top->left);
	at = room_below(search, top->right);
	if (at || top->start <= search->floor)
		return at;
	if (gap_below(top) >= search->gap)
		at = room_between(search, top->previous ? top->previous->end : 0, top->start);
	return at ? at : room_below(search, top->left);
}

u64 tree_find_room(const struct space *space, u64 floor, u64 ceiling, u64 size, u64 align)
{
	struct search search = { floor, ceiling, size, align, size, 0 };
	const struct area *last = tree_last(space);
	u64 at = room_between(&search, last ? last->end : 0, ceiling);

	return at ? at : room_below(&search, space->tree);
}
