// SPDX-License-Identifier: MIT
/*
 * A Lempel-Ziv compressor and its decompressor: a round trip.
 *
 * The compressed form is a sequence of tokens. A byte n below 0x80 is followed by n + 1 literal
 * bytes. A byte from 0x80 on is a match: its low seven bits are the length minus
 * MATCH_MINIMUM, and two bytes follow with the distance back (low byte first). The compressor
 * finds matches through chains of positions with the same hash.
 *
 * A tracer sees, for each input, make_<kind>, compress with find_match, put_literals and
 * put_match below it (very many find_match for data without repetitions; few calls for
 * repetitive data) and decompress with copy_literals and copy_match.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_MINIMUM 4
#define MATCH_MAXIMUM (MATCH_MINIMUM + 0x7f)
#define LITERALS_MAXIMUM 0x80
#define DISTANCE_MAXIMUM 0xffff
#define CHAIN_MAXIMUM 16 /* positions tried */
#define HASH_BITS 10
#define NOWHERE UINT32_MAX
#define INPUT_MAXIMUM 6000

/* Always a function of its own, and every call to it stays. */
#define traced __attribute__((noipa))

struct buffer {
	uint8_t *bytes;
	size_t size;
	size_t used;
};

struct chains {
	uint32_t newest[1 << HASH_BITS];
	uint32_t older[INPUT_MAXIMUM]; /* for each position, the previous one with the same hash */
};

struct match {
	size_t length;
	size_t distance;
};

/* --- Compressor --------------------------------------------------------------------------- */

static inline bool put_bytes(struct buffer *to, const uint8_t *bytes, size_t size)
{
	if (to->size - to->used < size)
		return false;
	memcpy(to->bytes + to->used, bytes, size);
	to->used += size;
	return true;
}

traced static bool put_literals(struct buffer *to, const uint8_t *bytes, size_t size)
{
	while (size) {
		size_t part = size < LITERALS_MAXIMUM ? size : LITERALS_MAXIMUM;
		uint8_t token = (uint8_t)(part - 1);

		if (!put_bytes(to, &token, 1) || !put_bytes(to, bytes, part))
			return false;
		bytes += part;
		size -= part;
	}
	return true;
}

traced static bool put_match(struct buffer *to, struct match match)
{
	uint8_t token[3] = { (uint8_t)(0x80 | (match.length - MATCH_MINIMUM)),
			     (uint8_t)match.distance, (uint8_t)(match.distance >> 8) };

	return put_bytes(to, token, sizeof(token));
}

static inline uint32_t hash(const uint8_t *bytes)
{
	uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			(uint32_t)bytes[3] << 24;

	return word * 0x9e3779b1 >> (32 - HASH_BITS);
}

static inline void remember(struct chains *chains, const uint8_t *input, size_t size, size_t at)
{
	uint32_t slot;

	if (size - at < MATCH_MINIMUM)
		return;
	slot = hash(input + at);
	chains->older[at] = chains->newest[slot];
	chains->newest[slot] = (uint32_t)at;
}

/* Return: the longest match at this position; its length is 0 if there is none. */
traced static struct match find_match(const struct chains *chains, const uint8_t *input,
				      size_t size, size_t at)
{
	struct match best = { 0, 0 };
	size_t limit = size - at < MATCH_MAXIMUM ? size - at : MATCH_MAXIMUM;
	uint32_t candidate;

	if (limit < MATCH_MINIMUM)
		return best;
	candidate = chains->newest[hash(input + at)];
	for (int tries = 0; tries < CHAIN_MAXIMUM && candidate != NOWHERE; tries++) {
		size_t length = 0;

		if (at - candidate > DISTANCE_MAXIMUM)
			break;
		while (length < limit && input[candidate + length] == input[at + length])
			length++;
		if (length >= MATCH_MINIMUM && length > best.length)
			best = (struct match){ length, at - candidate };
		candidate = chains->older[candidate];
	}
	return best;
}

/* Return: false if there is no memory or the compressed form does not fit. */
traced static bool compress(struct buffer *to, const uint8_t *input, size_t size)
{
	struct chains *chains = malloc(sizeof(*chains));
	size_t at = 0, literals = 0; /* literals: number pending before at */
	bool good = chains != NULL;

	if (good)
		memset(chains->newest, 0xff, sizeof(chains->newest));
	while (good && at < size) {
		struct match match = find_match(chains, input, size, at);

		if (!match.length) {
			remember(chains, input, size, at++);
			literals++;
			continue;
		}
		good = put_literals(to, input + at - literals, literals) && put_match(to, match);
		literals = 0;
		while (match.length--)
			remember(chains, input, size, at++);
	}
	good = good && put_literals(to, input + at - literals, literals);
	free(chains);
	return good;
}

/* --- Decompressor ------------------------------------------------------------------------- */

traced static bool copy_literals(struct buffer *to, const uint8_t *from, size_t left, size_t size)
{
	return size <= left && put_bytes(to, from, size);
}

/* Byte by byte: a match may overlap its output, which repeats it. */
traced static bool copy_match(struct buffer *to, struct match match)
{
	if (!match.distance || match.distance > to->used || match.length > to->size - to->used)
		return false;
	for (; match.length; match.length--, to->used++)
		to->bytes[to->used] = to->bytes[to->used - match.distance];
	return true;
}

/* Return: false if the compressed form is damaged or its content does not fit. */
traced static bool decompress(struct buffer *to, const uint8_t *input, size_t size)
{
	size_t at = 0;

	while (at < size) {
		uint8_t token = input[at++];

		if (token < 0x80) {
			if (!copy_literals(to, input + at, size - at, token + 1))
				return false;
			at += token + 1;
		} else {
			if (size - at < 2 ||
			    !copy_match(to, (struct match){ (token & 0x7f) + MATCH_MINIMUM,
							    input[at] | input[at + 1] << 8 }))
				return false;
			at += 2;
		}
	}
	return true;
}

/* --- Inputs ------------------------------------------------------------------------------- */

traced static void make_zeros(uint8_t *bytes, size_t size)
{
	memset(bytes, 0, size);
}

traced static void make_noise(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(rand() >> 8);
}

traced static void make_period(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i % 251);
}

/* Sentences of the same words in changing order. */
traced static void make_text(uint8_t *bytes, size_t size)
{
	static const char *const words[] = { "guest ",	 "kernel ", "tracer ", "function ",
					     "returns ", "to ",	    "the ",    "caller ",
					     "of ",	 "a ",	    "live ",   "buffer.\n" };
	size_t at = 0;

	while (at < size) {
		const char *word = words[rand() % (sizeof(words) / sizeof(words[0]))];
		size_t length = strlen(word);

		if (length > size - at)
			length = size - at;
		memcpy(bytes + at, word, length);
		at += length;
	}
}

struct input {
	const char *name;
	void (*make)(uint8_t *bytes, size_t size);
	size_t size;
	size_t least, most; /* limits of the compressed size in bytes */
};

static const struct input inputs[] = {
	{ "nothing", make_zeros, 0, 0, 0 },
	{ "one byte", make_noise, 1, 2, 2 },
	{ "three zeros", make_zeros, 3, 4, 4 },
	{ "zeros", make_zeros, 6000, 100, 200 },
	/* Almost no match in noise, so one token byte for each 128 literals. */
	{ "noise", make_noise, 3000, 3000, 3000 + 3000 / 128 + 1 },
	{ "period", make_period, 6000, 251, 500 },
	{ "text", make_text, 6000, 1000, 3000 },
};

/* --- Checks ------------------------------------------------------------------------------- */

/*
 * A truncated compressed form must not give the whole input; output that does not fit must be
 * refused; and with a damaged byte nothing may be written outside the buffer.
 *
 * Return: 1 if one of these fails.
 */
traced static int check_damaged(const struct buffer *packed, size_t size, uint8_t *scratch)
{
	struct buffer to = { scratch, size, 0 };
	struct buffer half = { scratch, size / 2, 0 };

	if (packed->used && decompress(&half, packed->bytes, packed->used))
		return 1;
	if (packed->used && decompress(&to, packed->bytes, packed->used - 1) && to.used == size)
		return 1;
	for (size_t i = 0; packed->used && i < 8; i++) {
		uint8_t *damaged = packed->bytes + (packed->used - 1) * i / 7;

		*damaged ^= 0x7f;
		to.used = 0;
		if (decompress(&to, packed->bytes, packed->used) && to.used > size)
			return 1;
		*damaged ^= 0x7f;
	}
	return 0;
}

traced static int check_input(const struct input *input, uint8_t *bytes, uint8_t *packed_bytes,
			      uint8_t *unpacked_bytes)
{
	struct buffer packed = { packed_bytes, INPUT_MAXIMUM + INPUT_MAXIMUM / 64, 0 };
	struct buffer unpacked = { unpacked_bytes, input->size, 0 };

	input->make(bytes, input->size);
	if (!compress(&packed, bytes, input->size)) {
		printf("lz: %s could not be compressed\n", input->name);
		return 1;
	}
	if (packed.used < input->least || packed.used > input->most) {
		printf("lz: %s has %zu bytes compressed, not %zu to %zu\n", input->name,
		       packed.used, input->least, input->most);
		return 1;
	}
	if (!decompress(&unpacked, packed_bytes, packed.used) || unpacked.used != input->size ||
	    memcmp(bytes, unpacked_bytes, input->size)) {
		printf("lz: %s came back different\n", input->name);
		return 1;
	}
	if (check_damaged(&packed, input->size, unpacked_bytes)) {
		printf("lz: %s was unpacked though it was damaged\n", input->name);
		return 1;
	}
	return 0;
}

int workload(void)
{
	uint8_t *bytes = malloc(INPUT_MAXIMUM);
	uint8_t *packed = malloc(INPUT_MAXIMUM + INPUT_MAXIMUM / 64);
	uint8_t *unpacked = malloc(INPUT_MAXIMUM);
	int wrong = 0;

	srand(1977);
	if (!bytes || !packed || !unpacked)
		wrong = -1;
	for (size_t i = 0; !wrong && i < sizeof(inputs) / sizeof(inputs[0]); i++)
		wrong = check_input(&inputs[i], bytes, packed, unpacked);
	free(unpacked);
	free(packed);
	free(bytes);
	return wrong;
}
