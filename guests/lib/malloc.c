// SPDX-License-Identifier: MIT
/*
 * A small allocator with boundary tags over __heap_start..__heap_end.
 *
 * The heap is a sequence of blocks without gaps. Each begins with a header with the size of the
 * block and of the previous one, so that free can merge a block with both neighbours. Free blocks
 * are in a list; malloc takes the first that is large enough (first fit) and splits it.
 *
 * A header has a magic number combined with its address, and the bytes between the requested size
 * and the end of the block (at least one) have a pattern. So free detects a double free, a pointer
 * not from malloc and a write beyond either end, and the kernel panics. One lock protects the heap:
 * do not allocate in an interrupt handler.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libc.h"

#define ALIGNMENT 16
#define GUARD 0xa5
#define MAGIC_USED ((size_t)0x75736564) /* "used" */
#define MAGIC_FREE ((size_t)0x66726565) /* "free" */

struct block {
	size_t size;	      /* of the payload, in bytes */
	size_t previous_size; /* size of the previous block; unused in the first */
	size_t magic;
	size_t requested;     /* requested bytes of the payload */
};

/* At the beginning of a free block's payload. */
struct free_links {
	struct block *next;
	struct block *previous;
};

_Static_assert(sizeof(struct block) % ALIGNMENT == 0, "the payload has to be aligned");
_Static_assert(sizeof(struct free_links) <= ALIGNMENT, "the smallest block has to hold the links");

static struct block *first_block;
static struct block *last_block; /* of size 0 and never free: ends merging */
static struct block *free_list;

static size_t round_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static unsigned char *payload_of(struct block *block)
{
	return (unsigned char *)(block + 1);
}

static struct free_links *links_of(struct block *block)
{
	return (struct free_links *)(block + 1);
}

static struct block *block_after(struct block *block)
{
	return (struct block *)(payload_of(block) + block->size);
}

static struct block *block_before(struct block *block)
{
	return (struct block *)((unsigned char *)block - block->previous_size) - 1;
}

static void mark(struct block *block, size_t magic)
{
	block->magic = magic ^ (uintptr_t)block;
}

static bool is_marked(const struct block *block, size_t magic)
{
	return block->magic == (magic ^ (uintptr_t)block);
}

static void list_add(struct block *block)
{
	links_of(block)->next = free_list;
	links_of(block)->previous = NULL;
	if (free_list)
		links_of(free_list)->previous = block;
	free_list = block;
}

static bool in_heap(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	return at % ALIGNMENT == 0 && at >= (uintptr_t)first_block && at < (uintptr_t)last_block;
}

/* Check that a free block's links are valid. */
static void check_links(struct block *block)
{
	struct free_links *links = links_of(block);

	if (!is_marked(block, MAGIC_FREE) || (links->next && !in_heap(links->next)) ||
	    (links->previous && !in_heap(links->previous)) ||
	    (links->previous ? links_of(links->previous)->next : free_list) != block ||
	    (links->next && links_of(links->next)->previous != block))
		panic("malloc: free memory at %p was written to", (void *)links);
}

static void list_remove(struct block *block)
{
	struct free_links *links = links_of(block);

	check_links(block);
	if (links->previous)
		links_of(links->previous)->next = links->next;
	else
		free_list = links->next;
	if (links->next)
		links_of(links->next)->previous = links->previous;
}

static void heap_init(void)
{
	uintptr_t start = round_up((uintptr_t)__heap_start);
	uintptr_t end = (uintptr_t)__heap_end & ~(uintptr_t)(ALIGNMENT - 1);

	if (end < start || end - start < 2 * sizeof(struct block) + ALIGNMENT)
		panic("malloc: no heap between %p and %p", (void *)__heap_start,
		      (void *)__heap_end);
	first_block = (struct block *)start;
	last_block = (struct block *)end - 1;
	first_block->size = end - start - 2 * sizeof(struct block);
	first_block->previous_size = 0;
	mark(first_block, MAGIC_FREE);
	last_block->size = 0;
	last_block->previous_size = first_block->size;
	last_block->requested = 0;
	mark(last_block, MAGIC_USED);
	list_add(first_block);
}

/* Split a block (not in the list) after size bytes, if the rest is large enough for a block. */
static void trim(struct block *block, size_t size)
{
	struct block *rest, *after;

	if (block->size - size < sizeof(struct block) + ALIGNMENT)
		return;
	rest = (struct block *)(payload_of(block) + size);
	rest->size = block->size - size - sizeof(struct block);
	rest->previous_size = size;
	mark(rest, MAGIC_FREE);
	block->size = size;
	after = block_after(rest);
	if (is_marked(after, MAGIC_FREE)) {
		list_remove(after);
		rest->size += sizeof(struct block) + after->size;
	}
	block_after(rest)->previous_size = rest->size;
	list_add(rest);
}

static void set_requested(struct block *block, size_t requested)
{
	block->requested = requested;
	memset(payload_of(block) + requested, GUARD, block->size - requested);
}

static void check_block(struct block *block)
{
	void *payload = payload_of(block);

	if (block->size > (size_t)((unsigned char *)last_block - payload_of(block)) ||
	    block->size % ALIGNMENT || block_after(block)->previous_size != block->size)
		panic("malloc: the header of %p or of the block behind it was overwritten",
		      payload);
	if (is_marked(block, MAGIC_FREE)) {
		check_links(block);
		return;
	}
	if (!is_marked(block, MAGIC_USED) || block->requested >= block->size)
		panic("malloc: the header of %p was overwritten", payload);
	for (size_t i = block->requested; i < block->size; i++)
		if (payload_of(block)[i] != GUARD)
			panic("malloc: written behind the %zu bytes at %p", block->requested,
			      payload);
}

/* The block of an allocated area; panics if it is not one. */
static struct block *used_block(void *area)
{
	struct block *block = (struct block *)area - 1;

	if (!first_block || !in_heap(block))
		panic("malloc: %p did not come from malloc", area);
	if (is_marked(block, MAGIC_FREE))
		panic("malloc: double free of %p", area);
	if (!is_marked(block, MAGIC_USED))
		panic("malloc: %p did not come from malloc, or its header was overwritten", area);
	check_block(block);
	return block;
}

/* Return: the payload size for a request, with its guard; 0 if it is too large. */
static size_t size_for(size_t requested)
{
	return requested > PTRDIFF_MAX - ALIGNMENT ? 0 : round_up(requested + 1);
}

static void *allocate(size_t size)
{
	size_t needed = size_for(size);
	struct block *block;

	if (!first_block)
		heap_init();
	if (!needed)
		return NULL;
	for (block = free_list; block; block = links_of(block)->next) {
		check_links(block);
		if (block->size >= needed)
			break;
	}
	if (!block)
		return NULL;
	list_remove(block);
	mark(block, MAGIC_USED);
	trim(block, needed);
	set_requested(block, size);
	return payload_of(block);
}

static void release(void *area)
{
	struct block *block = used_block(area), *after, *before;

	/* Even if it is merged with the previous block, so that a second free is detected. */
	mark(block, MAGIC_FREE);
	after = block_after(block);
	if (is_marked(after, MAGIC_FREE)) {
		list_remove(after);
		block->size += sizeof(struct block) + after->size;
	}
	if (block != first_block) {
		before = block_before(block);
		if (is_marked(before, MAGIC_FREE)) {
			list_remove(before);
			before->size += sizeof(struct block) + block->size;
			block = before;
		}
	}
	block_after(block)->previous_size = block->size;
	list_add(block);
}

void *malloc(size_t size)
{
	void *area;

	heap_lock();
	area = allocate(size);
	heap_unlock();
	return area;
}

void free(void *area)
{
	if (!area)
		return;
	heap_lock();
	release(area);
	heap_unlock();
}

void *calloc(size_t count, size_t size)
{
	size_t total;
	void *area;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	area = malloc(total);
	return area ? memset(area, 0, total) : NULL;
}

static void *reallocate(void *area, size_t size)
{
	size_t needed = size_for(size);
	struct block *block, *after;
	void *moved;

	if (!area)
		return allocate(size);
	block = used_block(area);
	if (!needed)
		return NULL;
	after = block_after(block);
	if (block->size < needed && is_marked(after, MAGIC_FREE) &&
	    block->size + sizeof(struct block) + after->size >= needed) {
		list_remove(after);
		block->size += sizeof(struct block) + after->size;
		block_after(block)->previous_size = block->size;
	}
	if (block->size >= needed) {
		trim(block, needed);
		set_requested(block, size);
		return area;
	}
	moved = allocate(size);
	if (moved) {
		memcpy(moved, area, block->requested);
		release(area);
	}
	return moved;
}

void *realloc(void *area, size_t size)
{
	void *moved;

	heap_lock();
	moved = reallocate(area, size);
	heap_unlock();
	return moved;
}

size_t malloc_check(void)
{
	size_t in_use = 0;

	if (!first_block)
		return 0;
	heap_lock();
	for (struct block *block = first_block; block != last_block; block = block_after(block)) {
		check_block(block);
		if (is_marked(block, MAGIC_USED))
			in_use += block->requested;
	}
	heap_unlock();
	return in_use;
}
