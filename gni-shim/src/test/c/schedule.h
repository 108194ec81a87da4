/* Stories of uGNI in every order of their steps (step_schedule.h); each actor has a NIC handle of
 * its own. */
#ifndef SCHEDULE_H
#define SCHEDULE_H
#define _GNU_SOURCE
#include "check.h"
#include "step_schedule.h"

static void explore(const struct story *s)
{
    explore_orders(s, 50);
}

#define JUDGE(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, "%s: %s", order_text, #condition);                      \
    } while (0)

#endif
