/* The collective engine's arithmetic: two operands of 64 or 32 bits, in the rounding that a channel
 * was configured for. The processor's own rounding and exceptions are put back afterwards. */
#include "gni_ce.h"
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define SMALL(command) (((command)&1u) == 0)

int gni_ce_is_command(uint32_t command)
{
    static const uint64_t commands = 0x0f0f00003f3f003full; /* one bit for each, of 0x00..0x3b */

    return command < 64 && (commands >> command & 1);
}

/* ---- the processor's floating point ---- */

#if defined(__x86_64__)
static uint32_t enter(uint32_t modes)
{
    uint32_t before = _mm_getcsr();
    uint32_t rounding = modes & GNI_CE_MODE_ROUND_DOWN   ? 1u
                        : modes & GNI_CE_MODE_ROUND_UP   ? 2u
                        : modes & GNI_CE_MODE_ROUND_ZERO ? 3u
                                                         : 0u;

    _mm_setcsr(0x1f80u | rounding << 13);
    return before;
}

static uint32_t leave(uint32_t before)
{
    uint32_t raised = _mm_getcsr();

    _mm_setcsr(before);
    return (raised & 0x01 ? GNI_CE_FPE_OP_INVAL : 0u) | (raised & 0x08 ? GNI_CE_FPE_OFLOW : 0u) |
           (raised & 0x10 ? GNI_CE_FPE_UFLOW : 0u) | (raised & 0x20 ? GNI_CE_FPE_PRECISION : 0u);
}
#elif defined(__aarch64__)
static uint32_t enter(uint32_t modes)
{
    uint64_t before;
    uint64_t rounding = modes & GNI_CE_MODE_ROUND_UP     ? 1u
                        : modes & GNI_CE_MODE_ROUND_DOWN ? 2u
                        : modes & GNI_CE_MODE_ROUND_ZERO ? 3u
                                                         : 0u;

    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"(rounding << 22) : "memory");
    return (uint32_t)before;
}

static uint32_t leave(uint32_t before)
{
    uint64_t raised;

    __asm__ volatile("mrs %0, fpsr" : "=r"(raised) : : "memory");
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, xzr" : : "r"((uint64_t)before) : "memory");
    return (raised & 0x01 ? GNI_CE_FPE_OP_INVAL : 0u) | (raised & 0x04 ? GNI_CE_FPE_OFLOW : 0u) |
           (raised & 0x08 ? GNI_CE_FPE_UFLOW : 0u) | (raised & 0x10 ? GNI_CE_FPE_PRECISION : 0u);
}
#else /* to nearest, and no exception is reported */
static uint32_t enter(uint32_t modes)
{
    return modes & 0;
}

static uint32_t leave(uint32_t before)
{
    return before;
}
#endif

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof(value));
    return value;
}

/* volatile: the sum must be made between enter and leave. */
static uint64_t add_floating(uint64_t a, uint64_t b, int is_small, uint32_t modes, uint32_t *fpe)
{
    uint64_t bits = 0;
    uint32_t before = enter(modes);

    if (is_small) {
        volatile float x = float_of(a), y = float_of(b), sum;

        sum = x + y;
        *fpe |= leave(before);
        float out = sum;
        uint32_t low;
        memcpy(&low, &out, sizeof(low));
        return low;
    }
    volatile double x = double_of(a), y = double_of(b), sum;
    sum = x + y;
    *fpe |= leave(before);
    double out = sum;
    memcpy(&bits, &out, sizeof(bits));
    return bits;
}

/* -1, 0, 1 as a is less, equal, greater. A NaN loses, and is reported. */
static int compare_floating(uint64_t a, uint64_t b, int is_small, int is_min, uint32_t *fpe)
{
    double x = is_small ? (double)float_of(a) : double_of(a);
    double y = is_small ? (double)float_of(b) : double_of(b);

    if (x != x || y != y) {
        *fpe |= GNI_CE_FPE_OP_INVAL;
        if (x != x && y != y)
            return 0;
        return (y != y) == is_min ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static int compare_signed(uint64_t a, uint64_t b, int is_small)
{
    int64_t x = is_small ? (int32_t)(uint32_t)a : (int64_t)a;
    int64_t y = is_small ? (int32_t)(uint32_t)b : (int64_t)b;

    return x < y ? -1 : x > y;
}

/* ---- the commands ---- */

/* Minimum or maximum with the index of who had it; of equals the lowest or the greatest one. */
static void fold_extreme(struct gni_ce_part *into, const struct gni_ce_part *next)
{
    uint32_t command = into->command & ~1u, kind = command & 0x1eu;
    int is_small = SMALL(into->command), is_min = (command & 2u) == 0;
    uint64_t mask = is_small ? 0xffffffffull : UINT64_MAX;
    uint64_t mine = into->operand[1] & mask, other = next->operand[1] & mask;
    int order = kind >= 0x18 ? compare_floating(into->operand[0], next->operand[0], is_small,
                                                is_min, &into->fpe)
                             : compare_signed(into->operand[0], next->operand[0], is_small);

    if (order == 0)
        order =
            (command & 0x20u ? other > mine : other < mine) ? (is_min ? 1 : -1) : (is_min ? -1 : 1);
    if (is_min ? order > 0 : order < 0) {
        into->operand[0] = next->operand[0];
        into->operand[1] = next->operand[1];
    }
}

static uint64_t fold_one(uint32_t command, uint64_t a, uint64_t b, uint32_t modes, uint32_t *fpe)
{
    switch (command & ~1u) {
    case GNI_FMA_CE_AND_S:
        return a & b;
    case GNI_FMA_CE_OR_S:
        return a | b;
    case GNI_FMA_CE_XOR_S:
        return a ^ b;
    case GNI_FMA_CE_IADD_S:
        return a + b;
    default:
        return add_floating(a, b, SMALL(command), modes, fpe);
    }
}

void gni_ce_fold(struct gni_ce_part *into, const struct gni_ce_part *next, uint32_t modes)
{
    uint32_t kind = into->command & 0x1eu;

    into->fpe |= next->fpe;
    if (into->status == 0)
        into->status = next->status;
    if (into->status == 0 && (into->command != next->command || into->mode != next->mode))
        into->status = GNI_CE_STATUS_INCONSISTENT;
    if (into->status == 0 && into->red_id != next->red_id)
        into->status = GNI_CE_STATUS_RED_ID;
    if (into->status != 0)
        return;
    if ((kind >= 0x10 && kind <= 0x12) || (kind >= 0x18 && kind <= 0x1a)) {
        fold_extreme(into, next);
    } else {
        for (int i = 0; i < (into->mode & GNI_CEMODE_TWO_OP ? 2 : 1); i++)
            into->operand[i] =
                fold_one(into->command, into->operand[i], next->operand[i], modes, &into->fpe);
    }
    if (SMALL(into->command)) {
        into->operand[0] &= 0xffffffffull;
        into->operand[1] &= 0xffffffffull;
    }
}
