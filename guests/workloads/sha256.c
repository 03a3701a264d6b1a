// SPDX-License-Identifier: MIT
/*
 * SHA-256 as FIPS 180-4 describes it, checked against known digests.
 *
 * A tracer sees workload, then for each message sha256_init, several sha256_update and one
 * sha256_final, with one sha256_block below them for every 64 bytes; sha256_block computes for
 * a long time between two events. memcmp and memcpy are not traced.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_SIZE 64
#define DIGEST_SIZE 32
#define LENGTH_SIZE 8 /* of the message, in bits, at the end of the last block */

/* Always a function of its own, and every call to it stays. */
#define traced __attribute__((noipa))

struct sha256 {
	uint32_t hash[8];
	uint64_t size; /* of the message so far, in bytes */
	uint8_t block[BLOCK_SIZE];
};

/* 4.2.2: the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t word, unsigned int count)
{
	return word >> count | word << (32 - count);
}

static inline uint32_t read_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static inline void write_word(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* 6.2.2: the message schedule w, then 64 rounds over the working variables a to h (v[0..7]). */
traced static void sha256_block(struct sha256 *state, const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (int t = 0; t < 16; t++)
		w[t] = read_word(block + 4 * t);
	for (int t = 16; t < 64; t++) {
		uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = s1 + w[t - 7] + s0 + w[t - 16];
	}
	memcpy(v, state->hash, sizeof(v));
	for (int t = 0; t < 64; t++) {
		uint32_t sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
		uint32_t sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
		uint32_t t1 = v[7] + sum1 + choice + constants[t] + w[t];

		for (int i = 7; i > 0; i--)
			v[i] = v[i - 1];
		v[4] += t1;
		v[0] = t1 + sum0 + majority;
	}
	for (int i = 0; i < 8; i++)
		state->hash[i] += v[i];
}

traced static void sha256_init(struct sha256 *state)
{
	/* 5.3.3: the fractional parts of the square roots of the first 8 primes. */
	static const uint32_t initial[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(state->hash, initial, sizeof(state->hash));
	state->size = 0;
}

traced static void sha256_update(struct sha256 *state, const void *message, size_t size)
{
	const uint8_t *from = message;
	size_t used = state->size % BLOCK_SIZE;

	state->size += size;
	while (size) {
		size_t part = BLOCK_SIZE - used;

		if (part > size)
			part = size;
		memcpy(state->block + used, from, part);
		used += part;
		from += part;
		size -= part;
		if (used == BLOCK_SIZE) {
			sha256_block(state, state->block);
			used = 0;
		}
	}
}

/* 5.1.1: a one bit, zeros, and the length in bits fill the last block. */
traced static void sha256_final(struct sha256 *state, uint8_t *digest)
{
	static const uint8_t padding[BLOCK_SIZE] = { 0x80 };
	uint64_t bits = state->size * 8;
	size_t used = state->size % BLOCK_SIZE;
	uint8_t length[LENGTH_SIZE];

	write_word(length, (uint32_t)(bits >> 32));
	write_word(length + 4, (uint32_t)bits);
	sha256_update(state, padding,
		      (used < BLOCK_SIZE - LENGTH_SIZE ? 1 : 2) * BLOCK_SIZE - LENGTH_SIZE - used);
	sha256_update(state, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		write_word(digest + 4 * i, state->hash[i]);
}

struct vector {
	const char *text;
	size_t repeat;	   /* number of repetitions of the text */
	const char *digest;
};

/* The first four are NIST's examples; the others were computed with an independent program. */
static const struct vector vectors[] = {
	{ "", 1,
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", 1,
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
	  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1,
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1000,
	  "77a0f923b96d18567b52376c56638acc5f030009735888bc47f2da5b4b65e3af" },
	{ "The quick brown fox jumps over the lazy dog. ", 100,
	  "3b9dc18c6a8d76556996cd1829f61a38fb7b223f027d0326bb9f39c6ca2459d0" },
};

/* Hash the message in pieces of piece bytes, to fill blocks in every way. */
traced static void hash_message(const struct vector *vector, size_t piece, uint8_t *digest)
{
	size_t length = strlen(vector->text);
	struct sha256 state;

	sha256_init(&state);
	for (size_t i = 0; i < vector->repeat; i++)
		for (size_t at = 0; at < length; at += piece)
			sha256_update(&state, vector->text + at,
				      length - at < piece ? length - at : piece);
	sha256_final(&state, digest);
}

traced static int check_vector(const struct vector *vector, size_t piece)
{
	uint8_t digest[DIGEST_SIZE];
	char text[2 * DIGEST_SIZE + 1];

	hash_message(vector, piece, digest);
	for (int i = 0; i < DIGEST_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	if (!strcmp(text, vector->digest))
		return 0;
	printf("sha256: %zu times \"%s\" gave %s instead of %s\n", vector->repeat, vector->text,
	       text, vector->digest);
	return 1;
}

int workload(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		wrong += check_vector(&vectors[i], 64);
	for (size_t piece = 1; piece < 64; piece += 13)
		wrong += check_vector(&vectors[3], piece);
	return wrong;
}
