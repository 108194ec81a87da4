/*
 * The sums of processors without wide products, and of those without any instruction for sums,
 * whatever this one has.
 */
#define _GNU_SOURCE
#define SNIC_NO_WIDE_SUMS
#define snic_sum narrow_sum
#define snic_copy_summed narrow_copy_summed
#define snic_sums_are_fast narrow_sums_are_fast
#include "softnic_sum.c"
#include "sums.h"

static void sums_by_table(void)
{
    uint8_t bytes[600];
    uint64_t random = test_seed;
    for (uint64_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&random);
    for (uint64_t length = 0; length <= 500; length++)
        for (uint64_t skew = 0; skew < 8; skew++) {
            uint32_t before = (uint32_t)test_random(&random);
            CHECK_EQ(~sum_by_table(~before, bytes + skew, length),
                     plain_sum(before, bytes + skew, length));
        }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"narrow_sums_of_copies", sums_of_copies, NULL, 0},
        {"sums_by_table", sums_by_table, NULL, 0},
    };
    return test_main(argc, argv, cases, COUNT(cases));
}
