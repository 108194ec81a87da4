/*
 * Small test harness. Each case runs in a process of its own with a time limit, over segments of
 * its own. Most cases hold two NIC handles in that process; start() forks a further one. Output:
 * "ok ugni-34 name", "not ok ...: why", "skip ...: reason", and a closing count.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "gni_pub.h"
#include "gni_ext.h"

struct check_case {
    const char *assertions; /* "27,28": numbers in the specification; "" for none */
    const char *name;
    void (*run)(void);
};

int check_main(const struct check_case *cases, int count, int argc, char **argv);
/* Ends the case (or the process that start() made) as failed. */
void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

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
                       GNI_ExtError());                                                            \
    } while (0)
#define CODE(expected, call)                                                                       \
    do {                                                                                           \
        gni_return_t e_ = (expected), a_ = (call);                                                 \
        if (e_ != a_)                                                                              \
            check_fail(__FILE__, __LINE__, "%s: expected %s, was %s (%s)", #call, gni_err_str[e_], \
                       gni_err_str[a_], GNI_ExtError());                                           \
    } while (0)
#define OK(call) CODE(GNI_RC_SUCCESS, call)

/* Ends the case as skipped; the reason is printed and counted. */
void check_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Forks a process that runs `body` with nothing open. */
pid_t start(void (*body)(void));
/* For those that a case forks itself: a limit of their own, and no life after the case. */
void end_with_parent(void);
/* Waits for it; fails if it failed. Answers the signal that killed it, or 0. */
int join(pid_t pid);

/* Memory shared by all processes of a case, zeroed per case: for facts that one tells another. */
struct check_shared {
    _Atomic uint32_t flag[64];
    uint64_t number[64];
    gni_mem_handle_t handle[16];
    gni_smsg_attr_t attr[16];
    uint8_t bytes[65536];
};
extern struct check_shared *shared;
void await_flag(int index, uint32_t value);
void set_flag(int index, uint32_t value);

/* ---- a NIC handle with what belongs to it ---- */

#define PTAG 33
#define COOKIE 0x42420000u
#define MEMORY_BYTES (1u << 21)
struct node {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    uint32_t pe, inst;
    gni_cq_handle_t cq;  /* source */
    gni_cq_handle_t dst; /* destination, of memory */
    gni_ep_handle_t ep;
    uint8_t *memory; /* MEMORY_BYTES, zeroed, page aligned */
    gni_mem_handle_t handle;
};
void node_attach(struct node *n, uint32_t inst, uint32_t cookie, uint32_t modes);
/* Attached, with queues, registered memory (of the toolkit if `mapped`), an endpoint. */
void node_open(struct node *n, uint32_t inst, uint32_t modes, int mapped);
void node_close(struct node *n);
/* Two of them in this process, bound to each other: instances 1 and 2. */
void pair_open(struct node *a, struct node *b, uint32_t modes, int mapped);

/* A transaction of `length` bytes at the beginning of both memories, with a GLOBAL event. */
gni_post_descriptor_t transaction(gni_post_type_t type, const struct node *local,
                                  const struct node *remote, uint64_t length);
/* The next event, waited for in good measure. */
gni_return_t next_event(gni_cq_handle_t cq, gni_cq_entry_t *entry);
/* Posts, fetches the one event, asks for the descriptor: answers what GNI_GetCompleted said. */
gni_return_t post_and_wait(const struct node *n, gni_post_descriptor_t *d);
/* The event of a post that must have failed with this hardware status. */
void expect_error(const struct node *n, gni_post_descriptor_t *d, unsigned status);
void expect_empty(gni_cq_handle_t cq);
void fill(uint8_t *at, uint64_t length, uint32_t seed);
int is_filled(const uint8_t *at, uint64_t length, uint32_t seed);
int is_zero(const uint8_t *at, uint64_t length);
/* VERBENA_SEED, or one of the clock; told when the case fails. */
uint64_t check_seed(void);
uint64_t now_ms(void);
void sleep_ms(unsigned ms);

#endif
