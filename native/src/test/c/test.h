/*
 * A small test runner. Each case runs in a process of its own with a time limit and a folder of its
 * own for shared memory, so that a crash, a hang or a leak of one case is a failure of that case
 * alone. Lines: `ok <assertions or -> <name>`, `not ok ... <name>: why`, `skip ... <name>: reason`,
 * then `N passed, N failed, N skipped`.
 */
#ifndef SNIC_TEST_H
#define SNIC_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct test_case {
    const char *name;
    void (*run)(void);
    const char *covers;  /* "portals3-27,dart-D12" or NULL */
    unsigned time_limit; /* seconds; 0: 60 */
};

/* Runs all cases, or those whose names are arguments; returns the exit code for main. */
int test_main(int argc, char **argv, const struct test_case *cases, int count);

/* For use inside a case, or in children that it forked. */
extern char test_folder[256];
extern uint64_t test_seed;
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void test_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
uint64_t test_random(uint64_t *state);

/* Forks; the child runs f(argument) and exits 0. */
int test_fork(void (*f)(void *), void *argument);
/* Waits; fails the case unless the child exited with `code`. */
void test_join(int pid, int code);
/* Waits; fails unless the child was killed by SIGKILL or exited 0. 1: killed. */
int test_join_killed(int pid);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            test_fail(__FILE__, __LINE__, "%s", #condition);                                       \
    } while (0)
#define CHECK_EQ(actual, expected)                                                                 \
    do {                                                                                           \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);                \
        if (actual_ != expected_)                                                                  \
            test_fail(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #actual, actual_,      \
                      #expected, expected_);                                                       \
    } while (0)
#define CHECK_CONTAINS(text, part)                                                                 \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            test_fail(__FILE__, __LINE__, "\"%s\" does not contain \"%s\"", text, part);           \
    } while (0)
#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

#endif
