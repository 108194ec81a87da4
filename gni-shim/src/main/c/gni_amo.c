/* What the atomic commands compute (specification, section 6). */
#include "gni_remote.h"
#include <string.h>

enum { GEN2_AND = 0x00, GEN2_OR = 0x02, GEN2_XOR = 0x04, GEN2_SWAP = 0x06, GEN2_AX = 0x08 };
enum { GEN2_CSWAP = 0x0a, GEN2_IMIN = 0x10, GEN2_IMAX = 0x12, GEN2_IADD = 0x14 };
enum { GEN2_FPMIN = 0x18, GEN2_FPMAX = 0x1a, GEN2_FPADD = 0x1c };

static uint64_t of_double(uint32_t op, uint64_t t, uint64_t a)
{
    double x, y, z;
    uint64_t bits;

    memcpy(&x, &t, 8);
    memcpy(&y, &a, 8);
    z = op == GEN2_FPADD ? x + y : op == GEN2_FPMIN ? (y < x ? y : x) : (y > x ? y : x);
    memcpy(&bits, &z, 8);
    return bits;
}

static uint64_t of_float(uint32_t op, uint64_t t, uint64_t a)
{
    uint32_t u = (uint32_t)t, v = (uint32_t)a, bits;
    float x, y, z;

    memcpy(&x, &u, 4);
    memcpy(&y, &v, 4);
    z = op == GEN2_FPADD ? x + y : op == GEN2_FPMIN ? (y < x ? y : x) : (y > x ? y : x);
    memcpy(&bits, &z, 4);
    return bits;
}

/* As signed numbers of 64 or 32 bits. */
static int is_less(uint64_t x, uint64_t y, int is_small)
{
    return is_small ? (int32_t)(uint32_t)x < (int32_t)(uint32_t)y : (int64_t)x < (int64_t)y;
}

static uint64_t compute(uint32_t op, int is_small, uint64_t t, uint64_t a, uint64_t b)
{
    switch (op) {
    case GEN2_AND:
        return t & a;
    case GEN2_OR:
        return t | a;
    case GEN2_XOR:
        return t ^ a;
    case GEN2_SWAP:
        return a;
    case GEN2_AX:
        return (t & a) ^ b;
    case GEN2_CSWAP:
        return t == a ? b : t;
    case GEN2_IMIN:
        return is_less(a, t, is_small) ? a : t;
    case GEN2_IMAX:
        return is_less(t, a, is_small) ? a : t;
    case GEN2_IADD:
        return t + a;
    default:
        return is_small ? of_float(op, t, a) : of_double(op, t, a);
    }
}

/* What the second generation calls an operation of the first. */
static uint32_t of_first_generation(uint32_t command)
{
    static const uint8_t from_8[] = {GEN2_IADD, GEN2_AND, GEN2_OR, GEN2_XOR, GEN2_AX};
    uint32_t index = (command & 0xf) - 8;

    return index < sizeof(from_8) ? from_8[index] : GEN2_CSWAP;
}

uint64_t gni_amo_apply(uint32_t command, uint64_t t, uint64_t a, uint64_t b)
{
    uint64_t mask = command & 0x200 ? 0xffffffffu : UINT64_MAX;

    if (!(command & 0x40))
        return compute(of_first_generation(command), 0, t, a, b);
    /* 0x20: cached, 0x01: 64 bits */
    return compute(command & 0x1e, mask != UINT64_MAX, t & mask, a & mask, b & mask);
}
