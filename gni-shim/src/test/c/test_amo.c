/* Atomic operations (assertions 71 to 77), on memory that peers map and on any other. */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

static struct node a, b;

struct command {
    uint32_t command;
    char op; /* + & | ^ x(AX) s(wap) c(swap) m(in) M(ax) f(min) F(max) p(lus) */
};

/* What the table of section 6 says, worked out apart from the library. */
static uint64_t expected(char op, int bits, uint64_t t, uint64_t x, uint64_t y)
{
    uint64_t mask = bits == 32 ? 0xffffffffull : UINT64_MAX, r = 0;
    int64_t st = bits == 32 ? (int32_t)t : (int64_t)t, sx = bits == 32 ? (int32_t)x : (int64_t)x;
    union {
        double d;
        float f[2];
        uint64_t u;
    } p = {.u = t & mask}, q = {.u = x & mask};

    switch (op) {
    case '+':
        r = t + x;
        break;
    case '&':
        r = t & x;
        break;
    case '|':
        r = t | x;
        break;
    case '^':
        r = t ^ x;
        break;
    case 'x':
        r = (t & x) ^ y;
        break;
    case 's':
        r = x;
        break;
    case 'c':
        r = (t & mask) == (x & mask) ? y : t;
        break;
    case 'm':
        r = (uint64_t)(sx < st ? sx : st);
        break;
    case 'M':
        r = (uint64_t)(sx > st ? sx : st);
        break;
    default:
        if (bits == 32)
            p.f[0] = op == 'p'   ? p.f[0] + q.f[0]
                     : op == 'f' ? (q.f[0] < p.f[0] ? q.f[0] : p.f[0])
                                 : (q.f[0] > p.f[0] ? q.f[0] : p.f[0]);
        else
            p.d = op == 'p'   ? p.d + q.d
                  : op == 'f' ? (q.d < p.d ? q.d : p.d)
                              : (q.d > p.d ? q.d : p.d);
        r = p.u;
    }
    return r & mask;
}

static void one(const struct command *c, int bits, uint64_t t, uint64_t x, uint64_t y, int index)
{
    gni_post_descriptor_t d = transaction(GNI_POST_AMO, &a, &b, (uint64_t)bits / 8);
    uint64_t neighbours[3] = {0x1111111111111111ull, 0, 0x3333333333333333ull}, after = 0;
    uint8_t *at = b.memory + 8 + (bits == 32 ? index % 2 * 4 : 0);
    int fetches = !(c->command & 0x100);

    memcpy(b.memory, neighbours, 24);
    memset(b.memory + 8, 0x22, 8);
    memcpy(at, &t, (size_t)bits / 8);
    memset(a.memory, 0xee, 16);
    d.remote_addr = (uint64_t)(uintptr_t)at;
    d.amo_cmd = (gni_fma_cmd_type_t)c->command;
    d.first_operand = x;
    d.second_operand = y;
    OK(post_and_wait(&a, &d));
    memcpy(&after, at, (size_t)bits / 8);
    if (after != expected(c->op, bits, t, x, y))
        check_fail(__FILE__, __LINE__, "command 0x%03x of %llx, %llx, %llx: %llx", c->command,
                   (unsigned long long)t, (unsigned long long)x, (unsigned long long)y,
                   (unsigned long long)after);
    if (fetches)
        CHECK(memcmp(a.memory, &t, (size_t)bits / 8) == 0);
    CHECK(a.memory[fetches ? bits / 8 : 0] == 0xee);
    memcpy(neighbours + 1, b.memory, 8);
    CHECK(neighbours[1] == 0x1111111111111111ull);
    CHECK(memcmp(b.memory + 16, &neighbours[2], 8) == 0);
    if (bits == 32)
        for (int k = 0; k < 4; k++)
            CHECK(b.memory[8 + (index % 2 ? 0 : 4) + k] == 0x22);
}

static void operands(const struct command *c, int bits)
{
    static const uint64_t ints[] = {0,
                                    1,
                                    0xffffffffffffffffull,
                                    0x8000000000000000ull,
                                    0x7fffffff80000000ull,
                                    0x123456789abcdef0ull};
    static const double doubles[] = {0.0, 1.5, -2.25, 1e300, -1e-300, 0.1};
    static const float floats[] = {0.0f, 1.5f, -2.25f, 1e30f, -1e-30f, 0.1f};
    int is_float = c->op == 'f' || c->op == 'F' || c->op == 'p';

    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            uint64_t t = ints[i], x = ints[k];

            if (is_float) {
                t = x = 0;
                memcpy(&t, bits == 64 ? (const void *)&doubles[i] : (const void *)&floats[i],
                       (size_t)bits / 8);
                memcpy(&x, bits == 64 ? (const void *)&doubles[k] : (const void *)&floats[k],
                       (size_t)bits / 8);
            }
            one(c, bits, t, x, 0x5555aaaa3333ccccull, i + k);
        }
}

static const char first_ops[] = "+&|^xc";
static const uint32_t first_codes[] = {0x8, 0x9, 0xa, 0xb, 0xc, 0xd};

static void first_generation(int mapped)
{
    pair_open(&a, &b, 0, mapped);
    for (int i = 0; i < 6; i++)
        for (int variant = 0; variant < 4; variant++) {
            struct command c = {first_codes[i] | (variant & 1 ? 0x10u : 0) |
                                    (variant & 2 ? 0x100u : 0),
                                first_ops[i]};

            if (!(first_ops[i] == 'c' && (variant & 2)))
                operands(&c, 64);
        }
}

static void second_generation(int mapped)
{
    static const char ops[] = "&|^sxcmM+fFp";
    static const uint32_t codes[] = {0x00, 0x02, 0x04, 0x06, 0x08, 0x0a,
                                     0x10, 0x12, 0x14, 0x18, 0x1a, 0x1c};

    pair_open(&a, &b, 0, mapped);
    for (int i = 0; i < 12; i++)
        for (int variant = 0; variant < 8; variant++) {
            int bits = variant & 4 ? 32 : 64;
            struct command c = {0x40 + codes[i] + (bits == 64 ? 0x001u : 0x200u) +
                                    (variant & 1 ? 0x20u : 0) + (variant & 2 ? 0x100u : 0),
                                ops[i]};

            operands(&c, bits);
        }
}

static void first_mapped(void)
{
    first_generation(1);
}

static void first_foreign(void)
{
    first_generation(0);
}

static void second_mapped(void)
{
    second_generation(1);
}

static void second_foreign(void)
{
    second_generation(0);
}

static void compare_and_swap(void)
{
    gni_post_descriptor_t d;
    uint64_t *at, *old;

    pair_open(&a, &b, 0, 1);
    at = (uint64_t *)(void *)b.memory;
    old = (uint64_t *)(void *)a.memory;
    *at = 7;
    d = transaction(GNI_POST_AMO, &a, &b, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_CSWAP;
    d.first_operand = 8;
    d.second_operand = 9;
    OK(post_and_wait(&a, &d));
    CHECK(*at == 7 && *old == 7);
    d.first_operand = 7;
    OK(post_and_wait(&a, &d));
    CHECK(*at == 9 && *old == 7);
}

static void alignment(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_AMO, &a, &b, 8);
    d.amo_cmd = GNI_FMA_ATOMIC2_FIADD;
    d.remote_addr += 4;
    CODE(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(a.ep, &d));
    d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_S;
    d.length = 4;
    OK(post_and_wait(&a, &d));
    d.remote_addr += 2;
    CODE(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(a.ep, &d));
    d.remote_addr += 2;
    d.local_addr += 1;
    CODE(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(a.ep, &d));
    d.amo_cmd = (gni_fma_cmd_type_t)0x7;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
    d = transaction(GNI_POST_AMO, &a, &b, 16);
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    CODE(GNI_RC_INVALID_PARAM, GNI_PostFma(a.ep, &d));
}

static void two_elements(void)
{
    gni_post_descriptor_t d;
    uint64_t *at;

    pair_open(&a, &b, 0, 0);
    at = (uint64_t *)(void *)b.memory;
    for (uint64_t length = 8; length <= 16; length += 8) {
        at[0] = 0xff;
        at[1] = 0xee;
        d = transaction(GNI_POST_AMO, &a, &b, length);
        d.amo_cmd = GNI_FMA_ATOMIC_AX;
        d.first_operand = 0x0f;
        d.second_operand = 0x30;
        OK(post_and_wait(&a, &d));
        CHECK(at[0] == 0x3f && at[1] == 0xee);
    }
    d.remote_addr += 8;
    CODE(GNI_RC_ALIGNMENT_ERROR, GNI_PostFma(a.ep, &d));
}

static void out_of_bounds(void)
{
    gni_post_descriptor_t d;

    pair_open(&a, &b, 0, 1);
    d = transaction(GNI_POST_AMO, &a, &b, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    d.remote_addr += MEMORY_BYTES;
    expect_error(&a, &d, 9);
}

/* ---- several processes ---- */

#define ADDERS 4u
#define ADDS 2000u

static void add(void)
{
    struct node me, far = {0};
    uint32_t who = __atomic_fetch_add((uint32_t *)&shared->flag[2], 1, __ATOMIC_RELAXED);

    node_open(&me, 20 + who, 0, 0);
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    OK(GNI_EpBind(me.ep, me.pe, 2));
    for (uint32_t i = 0; i < ADDS; i++) {
        gni_post_descriptor_t d = transaction(GNI_POST_AMO, &me, &far, 8);
        uint64_t old;

        d.amo_cmd = GNI_FMA_ATOMIC_FADD;
        d.first_operand = 1;
        OK(post_and_wait(&me, &d));
        memcpy(&old, me.memory, 8);
        CHECK(old < ADDERS * ADDS);
        __atomic_fetch_add(&shared->bytes[old], 1, __ATOMIC_RELAXED);
    }
    node_close(&me);
}

static void adders(int mapped)
{
    pid_t pid[ADDERS];

    node_open(&b, 2, 0, mapped);
    shared->handle[0] = b.handle;
    shared->number[0] = (uint64_t)(uintptr_t)b.memory;
    for (uint32_t i = 0; i < ADDERS; i++)
        pid[i] = start(add);
    for (uint32_t i = 0; i < ADDERS; i++)
        CHECK_EQ(0, join(pid[i]));
    CHECK_EQ(ADDERS * ADDS, *(uint64_t *)(void *)b.memory);
    for (uint32_t i = 0; i < ADDERS * ADDS; i++)
        CHECK_EQ(1, shared->bytes[i]);
}

static void many_mapped(void)
{
    adders(1);
}

static void many_foreign(void)
{
    adders(0);
}

static const struct check_case cases[] = {
    {"71", "first_generation_mapped", first_mapped},
    {"71", "first_generation_foreign", first_foreign},
    {"72,77", "second_generation_mapped", second_mapped},
    {"72,77", "second_generation_foreign", second_foreign},
    {"73", "compare_and_swap", compare_and_swap},
    {"74", "amo_alignment", alignment},
    {"75", "two_elements", two_elements},
    {"", "amo_out_of_bounds", out_of_bounds},
    {"76", "many_adders_mapped", many_mapped},
    {"76", "many_adders_foreign", many_foreign},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
