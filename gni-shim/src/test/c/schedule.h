/* Stories of uGNI in every order of their steps (step_schedule.h); each actor has a NIC handle of
 * its own. */
#ifndef SCHEDULE_H
#define SCHEDULE_H
#define _GNU_SOURCE
#include "area_check.h"
#include "check.h"
#include "step_schedule.h"

/* What the actors have. */
static struct node a, b, c;
static struct node *const nodes[3] = {&a, &b, &c};
static gni_return_t outcome[3];

static void explore(const struct story *s)
{
    explore_orders(s, 50);
}

#define JUDGE(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, "%s: %s", order_text, #condition);                      \
    } while (0)

static void expect_sound(const struct node *n)
{
    char text[512];

    if (nic_check(n->nic, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "%s: %s", order_text, text);
}

#endif
