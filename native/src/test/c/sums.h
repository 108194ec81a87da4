/* What is checked of sums: bytes, sum and what lies around. */
#ifndef SUMS_H
#define SUMS_H

#include "softnic_private.h"
#include "test.h"
#include <stdlib.h>
#include <string.h>

/* CRC-32C bit by bit, as RFC 3720 defines it. */
static uint32_t plain_sum(uint32_t before, const uint8_t *bytes, uint64_t length)
{
    static uint32_t table[256];
    for (uint32_t i = 1; i < 256 && !table[255]; i++) {
        uint32_t v = i;
        for (int k = 0; k < 8; k++)
            v = v >> 1 ^ (v & 1 ? 0x82f63b78u : 0);
        table[i] = v;
    }
    uint32_t state = ~before;
    for (uint64_t i = 0; i < length; i++)
        state = state >> 8 ^ table[(state ^ bytes[i]) & 255];
    return ~state;
}

/* Moves `length` bytes with their sum to `to`, and checks bytes, sum and what lies around. */
static void check_summed(uint8_t *to, const uint8_t *from, uint64_t length, int streaming)
{
    uint32_t before = (uint32_t)length * 2654435761u;
    uint32_t expected = plain_sum(before, from, length);
    memset(to - 8, 0x55, length + 16);
    CHECK_EQ(snic_copy_summed(before, to, from, length, streaming), expected);
    CHECK(memcmp(to, from, length) == 0);
    for (int i = 1; i <= 8; i++)
        CHECK(to[-i] == 0x55 && to[length + (uint64_t)i - 1] == 0x55);
    CHECK_EQ(snic_sum(before, from, length), expected);
}

static void sums_of_copies(void)
{
    const uint64_t longest = 9 * 4096 + 77; /* twice what is moved at once, and a rest */
    uint8_t *from = malloc(longest + 256), *to = malloc(longest + 256);
    uint64_t random = test_seed;
    for (uint64_t i = 0; i < longest + 256; i++)
        from[i] = (uint8_t)test_random(&random);
    CHECK_EQ(snic_sum(0, "123456789", 9), 0xe3069283u); /* RFC 3720's polynomial, well known */
    for (int streaming = 0; streaming < 2; streaming++) {
        for (uint64_t length = 0; length <= 200; length++)
            for (uint64_t skew = 0; skew < 64; skew += length < 20 ? 1 : 7)
                check_summed(to + 64 + skew, from + 3 * skew % 64, length, streaming);
        for (uint64_t skew = 0; skew < 64; skew++)
            for (uint64_t pages = 0; pages <= 9; pages++)
                check_summed(to + 64 + skew, from + (skew * 11 + pages) % 64,
                             pages * 4096 + test_random(&random) % 77, streaming);
    }
    free(from);
    free(to);
}

#endif
