/* The collective engine: trees of several processes against a sequential fold (specification,
 * section 5.13; nothing numbered there). */
#define _GNU_SOURCE
#include "ce_tree.h"
#include <float.h>
#include <math.h>
#include <sched.h>

/* ---- every command against a fold by hand ---- */

static uint64_t bits_of(double value, int is_small)
{
    uint64_t bits = 0;
    float narrow = (float)value;

    if (is_small)
        memcpy(&bits, &narrow, sizeof(narrow));
    else
        memcpy(&bits, &value, sizeof(value));
    return bits;
}

static double value_of(uint64_t bits, int is_small)
{
    double value;
    float narrow;

    memcpy(&value, &bits, sizeof(value));
    memcpy(&narrow, &bits, sizeof(narrow));
    return is_small ? (double)narrow : value;
}

static int is_floating(uint32_t command)
{
    return (command & 0x18) == 0x18;
}

/* What leaf `rank` gives: sums are exact in any order, extremes have ties. */
static uint64_t operand(uint32_t command, int rank, int second)
{
    int64_t value = (rank * 7 + second * 3) % 5 - 2;
    uint64_t plain = (uint64_t)value * 0x0101010101ull + (uint64_t)rank;

    if (is_floating(command))
        return second && (command & 6) != 4 ? (uint64_t)rank
                                            : bits_of((double)value * 0.5, !(command & 1));
    if ((command & 0x10) && (command & 4) == 0)
        return second ? (uint64_t)rank : (uint64_t)value;
    return plain;
}

static int is_before(uint32_t command, uint64_t a, uint64_t b)
{
    int is_small = !(command & 1), is_min = !(command & 2);

    if (is_floating(command)) {
        double x = value_of(a, is_small), y = value_of(b, is_small);

        return is_min ? x < y : x > y;
    }
    int64_t x = is_small ? (int32_t)a : (int64_t)a, y = is_small ? (int32_t)b : (int64_t)b;
    return is_min ? x < y : x > y;
}

static void expect_fold(uint32_t command, int leaves, uint64_t expected[2])
{
    int best = 0, is_small = !(command & 1);
    double sum[2] = {0, 0};
    uint64_t word[2] = {operand(command, 0, 0), operand(command, 0, 1)};

    for (int i = 0; i < leaves; i++)
        for (int s = 0; s < 2; s++) {
            uint64_t x = operand(command, i, s);

            sum[s] += value_of(x, is_small);
            if (i == 0)
                continue;
            word[s] = command < 2   ? word[s] & x
                      : command < 4 ? word[s] | x
                      : command < 6 ? word[s] ^ x
                                    : word[s] + x;
        }
    for (int i = 1; i < leaves; i++) {
        uint64_t mine = operand(command, best, 0), other = operand(command, i, 0);

        if (is_before(command, other, mine) ||
            (!is_before(command, mine, other) && (command & 0x20)))
            best = i;
    }
    for (int s = 0; s < 2; s++) {
        if ((command & 0x10) && (command & 4) == 0)
            expected[s] = operand(command, best, s);
        else
            expected[s] = is_floating(command) ? bits_of(sum[s], is_small) : word[s];
        if (is_small)
            expected[s] &= 0xffffffffull;
    }
}

static const uint8_t commands[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x10, 0x11, 0x12,
                                   0x13, 0x14, 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d,
                                   0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b};

static void every_command(int rank, int leaves, int fan)
{
    struct tree t;
    uint64_t expected[2];

    grow(&t, rank, leaves, fan, MODES);
    for (size_t i = 0; i < sizeof(commands); i++) {
        uint32_t command = commands[i];
        gni_post_descriptor_t d = reduction(&t, (gni_ce_cmd_type_t)command, GNI_CEMODE_TWO_OP,
                                            operand(command, rank, 0), operand(command, rank, 1));

        OK(GNI_PostFma(t.leaf, &d));
        OK(finish(&t, &d));
        OK(GNI_CeCheckResult(t.result, 1));
        expect_fold(command, leaves, expected);
        CHECK_EQ(expected[0], t.result->result1);
        CHECK_EQ(expected[1], t.result->result2);
        CHECK(GNI_CE_RES_STATUS_OK(t.result) && GNI_CE_RES_GET_STATUS(t.result) == 0);
        CHECK_EQ(77, GNI_CE_RES_GET_RED_ID(t.result));
        CHECK_EQ(0, GNI_CE_RES_GET_FPE(t.result));
    }
    meet(3, leaves);
    OK(GNI_CdmDestroy(t.cdm));
}

static void body_one_channel(int rank)
{
    every_command(rank, 5, 5);
}

static void body_two_levels(int rank)
{
    every_command(rank, 8, 3);
}

static void one_channel(void)
{
    aries();
    in_processes(5, body_one_channel);
}

static void two_levels(void)
{
    aries();
    in_processes(8, body_two_levels);
}

static void other_bind_ids(void)
{
    other_ids = 7000;
    two_levels();
}

/* ---- rounds, polled results, no event ---- */

static void body_rounds(int rank)
{
    struct tree t;

    grow(&t, rank, 6, 2, MODES);
    for (uint64_t round = 1; round <= 300; round++) {
        gni_post_descriptor_t d =
            reduction(&t, GNI_FMA_CE_IADD, 0, round * (uint64_t)(rank + 1), 5);
        gni_return_t code;

        d.cq_mode = GNI_CQMODE_SILENT;
        d.ce_red_id = round;
        /* Each is late in some rounds: the others must wait for whoever it is. */
        if (round % 50 == 8 * (uint64_t)rank)
            usleep(5000);
        OK(GNI_PostFma(t.leaf, &d));
        while ((code = GNI_CeCheckResult(t.result, 1)) == GNI_RC_NOT_DONE)
            sched_yield();
        CODE(GNI_RC_SUCCESS, code);
        CHECK_EQ(round * 21, t.result->result1);
        CHECK_EQ(round, GNI_CE_RES_GET_RED_ID(t.result));
    }
    expect_empty(t.cq);
    meet(3, 6);
    OK(GNI_CdmDestroy(t.cdm));
}

static void many_rounds(void)
{
    aries();
    in_processes(6, body_rounds);
}

/* The sum of one channel is the sum in the order of its children, to the bit. */
static void body_order(int rank)
{
    static const double given[4] = {1e16, 1.0, -1e16, 1.0};
    struct tree t;
    double sum = given[0];
    gni_post_descriptor_t d;

    for (int i = 1; i < 4; i++) {
        volatile double next = sum + given[i];

        sum = next;
    }
    grow(&t, rank, 4, 4, MODES);
    if (rank == 3)
        sleep_ms(20); /* the order of arrival must not count */
    d = reduction(&t, GNI_FMA_CE_FPADD, GNI_CEMODE_FPE_PRECISION, bits_of(given[rank], 0), 0);
    OK(GNI_PostFma(t.leaf, &d));
    OK(finish(&t, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, GNI_CeCheckResult(t.result, 1));
    CHECK_EQ(GNI_CE_FPE_PRECISION, GNI_CE_RES_GET_FPE(t.result));
    CHECK_EQ(bits_of(sum, 0), t.result->result1);
    meet(3, 4);
    OK(GNI_CdmDestroy(t.cdm));
}

static void order_of_sums(void)
{
    aries();
    in_processes(4, body_order);
}

/* ---- one process: rounding, exceptions, events of the channel ---- */

static uint64_t sum_rounded(uint32_t rounding, double a, double b)
{
    gni_ep_handle_t one, other;
    uint64_t bits;
    struct tree t;

    one = lone(&t, rounding | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_MIN_HASH, &other);
    bits = both(&t, one, other, reduction(&t, GNI_FMA_CE_FPADD, 0, bits_of(a, 0), 0), bits_of(b, 0))
               ->result1;
    expect_empty(t.results);
    OK(GNI_CdmDestroy(t.cdm));
    return bits;
}

static void rounding(void)
{
    aries();
    CHECK_EQ(bits_of(1.0, 0), sum_rounded(GNI_CE_MODE_ROUND_NEAR, 1.0, 1e-30));
    CHECK_EQ(bits_of(1.0 + DBL_EPSILON, 0), sum_rounded(GNI_CE_MODE_ROUND_UP, 1.0, 1e-30));
    CHECK_EQ(bits_of(1.0, 0), sum_rounded(GNI_CE_MODE_ROUND_DOWN, 1.0, 1e-30));
    CHECK_EQ(bits_of(1.0 - DBL_EPSILON / 2, 0), sum_rounded(GNI_CE_MODE_ROUND_DOWN, 1.0, -1e-30));
    CHECK_EQ(bits_of(1.0 - DBL_EPSILON / 2, 0), sum_rounded(GNI_CE_MODE_ROUND_ZERO, 1.0, -1e-30));
    CHECK_EQ(bits_of(-1.0 + DBL_EPSILON / 2, 0), sum_rounded(GNI_CE_MODE_ROUND_ZERO, -1.0, 1e-30));
    /* The caller's own rounding is as it was. */
    volatile double one = 1.0, tiny = 1e-30;
    CHECK(one + tiny == 1.0 && one - tiny == 1.0);
}

static void exceptions(void)
{
    uint32_t all = GNI_CEMODE_FPE_OP_INVAL | GNI_CEMODE_FPE_OFLOW | GNI_CEMODE_FPE_UFLOW;
    gni_ep_handle_t one, other;
    struct tree t;
    gni_post_descriptor_t d;

    aries();
    one = lone(&t, MODES, &other);
    d = reduction(&t, GNI_FMA_CE_FPADD, all, bits_of(1.7e308, 0), 0);
    CHECK_EQ(GNI_CE_FPE_OFLOW, GNI_CE_RES_GET_FPE(both(&t, one, other, d, bits_of(1.7e308, 0))));
    CODE(GNI_RC_TRANSACTION_ERROR, GNI_CeCheckResult(t.result, 1));
    CHECK(GNI_CE_RES_STATUS_OK(t.result));
    d = reduction(&t, GNI_FMA_CE_FPADD, 0, bits_of(1.7e308, 0), 0); /* not asked for */
    CHECK_EQ(0, GNI_CE_RES_GET_FPE(both(&t, one, other, d, bits_of(1.7e308, 0))));
    OK(GNI_CeCheckResult(t.result, 1));
    d = reduction(&t, GNI_FMA_CE_FPADD, all, bits_of(INFINITY, 0), 0);
    CHECK_EQ(GNI_CE_FPE_OP_INVAL,
             GNI_CE_RES_GET_FPE(both(&t, one, other, d, bits_of(-INFINITY, 0))));
    d = reduction(&t, GNI_FMA_CE_FPMIN_LIDX, all, bits_of(NAN, 0), 9);
    both(&t, one, other, d, bits_of(4.0, 0));
    CHECK_EQ(bits_of(4.0, 0), t.result->result1);
    CHECK_EQ(GNI_CE_FPE_OP_INVAL, GNI_CE_RES_GET_FPE(t.result));
    OK(GNI_CdmDestroy(t.cdm));
}

static void channel_events(void)
{
    gni_ep_handle_t one, other;
    struct tree t;
    gni_cq_entry_t entry;
    gni_post_descriptor_t d;
    uint32_t id;

    aries();
    one = lone(&t, MODES, &other);
    OK(GNI_CeGetId(t.ce, &id));
    d = reduction(&t, GNI_FMA_CE_IADD_S, 0, 0x1ffffffffull, 0);
    both(&t, one, other, d, 2);
    CHECK_EQ(1, t.result->result1); /* 32 bits, wrapped */
    OK(next_event(t.results, &entry));
    CHECK_EQ(id, GNI_CQ_GET_CE_ID(entry));
    CHECK_EQ(77, GNI_CQ_GET_REDUCTN_ID(entry));
    CHECK(GNI_CQ_STATUS_OK(entry));
    expect_empty(t.results);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CqDestroy(t.results));
    OK(GNI_CeDestroy(t.ce));
    CODE(GNI_RC_INVALID_PARAM, GNI_CeDestroy(t.ce));
    OK(GNI_CqDestroy(t.results));
    OK(GNI_CdmDestroy(t.cdm));
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "one_channel", one_channel},       {"", "two_levels", two_levels},
        {"", "other_bind_ids", other_bind_ids}, {"", "many_rounds", many_rounds},
        {"", "order_of_sums", order_of_sums},   {"", "rounding", rounding},
        {"", "exceptions", exceptions},         {"", "channel_events", channel_events},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
