/*
 * Small test harness of the C interfaces. Each case runs in a process of its own with a time limit,
 * over segments of its own. Output: "ok ugni-34 name", "not ok ...: why", "skip ...: reason", and a
 * closing count. A personality includes this from its check.h, where it also says what
 * `struct check_shared` is, and defines check_suite and check_error.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#define CHECK_CASE_SECONDS 150

struct check_case {
    const char *assertions; /* "27,28": numbers in the specification; "" for none */
    const char *name;
    void (*run)(void);
};

/* What differs between personalities. */
struct check_suite {
    const char *prefix;          /* "ugni": of the numbers in the output */
    const char *folder_variable; /* environment variable that says where segments lie */
    int is_numbered_only;        /* cases without a number are left out */
    void (*run)(void (*)(void)); /* does what a case needs before and after it */
};
extern const struct check_suite check_suite;
/* The library's words about its last failure. */
const char *check_error(void);

/* The case that is running: for those whose `run` reads a table. */
extern const struct check_case *check_running;
/* argv[1], if given, selects cases: a name or one of the numbers. */
int check_main(const struct check_case *cases, int count, int argc, char **argv);
/* Ends the case (or a process that it started) as failed. */
void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Ends the case as skipped; the reason is printed and counted. */
void check_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_fail(__FILE__, __LINE__, "%s", #condition);                                      \
    } while (0)
#define CHECK_EQ(expected, actual)                                                                 \
    do {                                                                                           \
        long long e_ = (long long)(expected), a_ = (long long)(actual);                            \
        if (e_ != a_)                                                                              \
            check_fail(__FILE__, __LINE__, "%s: expected %lld, was %lld (%s)", #actual, e_, a_,    \
                       check_error());                                                             \
    } while (0)

/* For those that a case forks itself: a limit of their own, and no life after the case. */
void end_with_parent(void);
/* A process ended with this status of waitpid; fails if it failed. Answers the signal that killed
 * it, or 0. */
int check_ended(const char *who, int status);

/* Memory shared by all processes of a case, zeroed per case: for facts that one tells another. */
extern struct check_shared *shared;
/* Waits until the flag has the value; the case's time limit bounds it. */
void await_flag(int index, uint32_t value);
void set_flag(int index, uint32_t value);

#endif
