/*
 * The harness (harness.h) for uGNI. Most cases hold two NIC handles in their process; start() forks
 * a further one.
 */
#ifndef CHECK_H
#define CHECK_H

#include "gni_pub.h"
#include "gni_ext.h"
#include "harness.h"

#define CODE(expected, call)                                                                       \
    do {                                                                                           \
        gni_return_t e_ = (expected), a_ = (call);                                                 \
        if (e_ != a_)                                                                              \
            check_fail(__FILE__, __LINE__, "%s: expected %s, was %s (%s)", #call, gni_err_str[e_], \
                       gni_err_str[a_], GNI_ExtError());                                           \
    } while (0)
#define OK(call) CODE(GNI_RC_SUCCESS, call)

/* Forks a process that runs `body` with nothing open. */
pid_t start(void (*body)(void));
/* Waits for it; fails if it failed. Answers the signal that killed it, or 0. */
int join(pid_t pid);

struct check_shared {
    _Atomic uint32_t flag[64];
    uint64_t number[64];
    gni_mem_handle_t handle[16];
    gni_smsg_attr_t attr[16];
    uint8_t bytes[65536];
};

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
