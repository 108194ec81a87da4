/* What the fuzz targets share: numbers out of an input, and inputs to begin with. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
    const uint8_t *data;
    size_t size;
};

static inline uint64_t number(struct input *in, size_t bytes)
{
    uint64_t value = 0;

    for (size_t i = 0; i < bytes && in->size > 0; i++, in->data++, in->size--)
        value = value << 8 | *in->data;
    return value;
}

/* Small numbers, ends of ranges, and any. */
static inline uint64_t wild(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1);

    if (which < 120)
        return which;
    if (which < 180)
        return (1ull << which % 64) - (which & 1);
    if (which < 200)
        return ~0ull - number(in, 1);
    return number(in, which < 230 ? 2 : 8);
}

static inline void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* The corpus folder is libFuzzer's first argument that is no option. */
static inline void write_seed(int count, char **arguments, const char *name, const uint8_t *data,
                              size_t size)
{
    for (int i = 1; i < count; i++) {
        char path[512];
        FILE *file;

        if (arguments[i][0] == '-')
            continue;
        snprintf(path, sizeof(path), "%s/%s", arguments[i], name);
        file = fopen(path, "wb");
        if (file == NULL)
            return;
        fwrite(data, 1, size, file);
        fclose(file);
        return;
    }
}

/* As long as inputs are let grow from the beginning, of any bytes. */
static inline void write_long_seed(int count, char **arguments)
{
    static uint8_t seed[256];
    uint64_t state = 1;

    for (size_t i = 0; i < sizeof(seed); i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        seed[i] = (uint8_t)(state >> 56);
    }
    write_seed(count, arguments, "seed-long", seed, sizeof(seed));
}

#endif
