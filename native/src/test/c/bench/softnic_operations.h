/* What softnic-bench measures: the operations, each with what the machine can do at best, and their
 * table. */
#ifndef SOFTNIC_OPERATIONS_H
#define SOFTNIC_OPERATIONS_H
#include "../shm_await.h"
#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum side { LEFT = 0, RIGHT = 1 };
struct line {
    _Alignas(128) _Atomic uint64_t word;
};

/* A barrier or a pause between two looks at a word lets the processor begin one look only, and the
 * line comes sooner, unless the processor's pause is long. Which is fastest is tried before each
 * operation is measured: for its latency, or for a line's where it is measured by throughput. */
enum looks { AT_ONCE, PAUSING, FENCING, LOOKS };

/* Shared by the two processes: commands and what the limits use. */
struct board {
    struct line command; /* counts; the right side runs `op` when it changes */
    struct line done;
    struct line ping, pong;
    struct line futex_a, futex_b;
    int op;
    uint64_t size;
    uint64_t iterations;
    snic_key_t key[2];  /* of each side's toolkit memory */
    snic_key_t foreign; /* of the right side's malloc memory */
    uint64_t foreign_address;
    int foreign_ok;
    _Atomic int ready[2];
    _Atomic int quit;
    _Atomic int looks; /* enum looks */
};

static struct board *board;
static uint8_t *limit_memory[2]; /* plain shared memory, one half for each side */
static uint8_t *source;          /* private to each process */
static uint8_t *mine;            /* toolkit memory of this process */
static uint64_t capacity;
static enum side side;
static shm_t *shm;
static int64_t connection;
static snic_peer_t *peer;
static pid_t other_pid;
static char why[SNIC_WHY_MAX];

static void die(const char *what)
{
    fprintf(stderr, "softnic-bench: %s: %s\n", what, why[0] ? why : strerror(errno));
    exit(2);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

static inline void await_word(_Atomic uint64_t *word, uint64_t value)
{
    int looks = atomic_load_explicit(&board->looks, memory_order_relaxed);
    if (looks == FENCING)
        do
            atomic_thread_fence(memory_order_seq_cst);
        while (atomic_load_explicit(word, memory_order_acquire) != value);
    else if (looks == PAUSING)
        while (atomic_load_explicit(word, memory_order_acquire) != value)
            pause_briefly();
    else
        while (atomic_load_explicit(word, memory_order_acquire) != value)
            ;
}

static inline void set_word(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* ---- one ping or pong of each kind; i counts from 1 ---- */

static void line_ping(uint64_t i, uint64_t size)
{
    (void)size;
    set_word(&board->ping.word, i);
    await_word(&board->pong.word, i);
}
static void line_pong(uint64_t i, uint64_t size)
{
    (void)size;
    await_word(&board->ping.word, i);
    set_word(&board->pong.word, i);
}

static void copy_flag_ping(uint64_t i, uint64_t size)
{
    memcpy(limit_memory[RIGHT], source, size);
    set_word(&board->ping.word, i);
    await_word(&board->pong.word, i);
}
static void copy_flag_pong(uint64_t i, uint64_t size)
{
    await_word(&board->ping.word, i);
    memcpy(limit_memory[LEFT], source, size);
    set_word(&board->pong.word, i);
}

/* Up to 8 bytes the payload is its own flag; beyond that an 8-byte put follows the payload, at
 * `capacity`. */
static inline void put_one(uint64_t i, uint64_t size)
{
    const snic_key_t *key = &board->key[!side];
    if (size > 8)
        snic_put(peer, key, 0, source, size);
    snic_put(peer, key, capacity, &i, 8);
}
static void put_ping(uint64_t i, uint64_t size)
{
    put_one(i, size);
    await_word((_Atomic uint64_t *)(mine + capacity), i);
}
static void put_pong(uint64_t i, uint64_t size)
{
    await_word((_Atomic uint64_t *)(mine + capacity), i);
    put_one(i, size);
}

static inline void send_one(uint64_t size)
{
    while (shm_send(shm, connection, source, (uint32_t)size) == -EAGAIN)
        ;
}
static inline void receive_one(void)
{
    shm_event_t e;
    while (shm_poll(shm, &e, 1) == 0)
        ;
    if (e.type != SHM_EVENT_MESSAGE)
        die("the connection was lost");
    shm_release(shm, e.token);
}
static void send_ping(uint64_t i, uint64_t size)
{
    (void)i;
    send_one(size);
    receive_one();
}
static void send_pong(uint64_t i, uint64_t size)
{
    (void)i;
    receive_one();
    send_one(size);
}

static void send_stream(uint64_t i, uint64_t size)
{
    (void)i;
    send_one(size);
}
static void receive_stream(uint64_t i, uint64_t size)
{
    (void)i, (void)size;
    receive_one();
}

static void futex_hand_over(struct line *to, uint64_t i)
{
    set_word(&to->word, i);
    syscall(SYS_futex, &to->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static void futex_sleep(struct line *on, uint64_t i)
{
    while (atomic_load_explicit(&on->word, memory_order_acquire) != i)
        syscall(SYS_futex, &on->word, FUTEX_WAIT, (uint32_t)(i - 1), NULL, NULL, 0);
}
static void futex_ping(uint64_t i, uint64_t size)
{
    (void)size;
    futex_hand_over(&board->futex_a, i);
    futex_sleep(&board->futex_b, i);
}
static void futex_pong(uint64_t i, uint64_t size)
{
    (void)size;
    futex_sleep(&board->futex_a, i);
    futex_hand_over(&board->futex_b, i);
}

static void doorbell_ring(uint64_t i)
{
    set_word(side == LEFT ? &board->ping.word : &board->pong.word, i);
    snic_ring(peer);
}
static void doorbell_sleep(uint64_t i)
{
    _Atomic uint64_t *word = side == LEFT ? &board->pong.word : &board->ping.word;
    for (;;) {
        uint32_t seen = snic_doorbell(shm_nic(shm));
        if (atomic_load_explicit(word, memory_order_acquire) == i)
            return;
        snic_wait(shm_nic(shm), seen, -1);
    }
}
static void doorbell_ping(uint64_t i, uint64_t size)
{
    (void)size;
    doorbell_ring(i);
    doorbell_sleep(i);
}
static void doorbell_pong(uint64_t i, uint64_t size)
{
    (void)size;
    doorbell_sleep(i);
    doorbell_ring(i);
}

/* ---- one-sided loops: only the left side works ---- */

static void copy_loop(uint64_t i, uint64_t size)
{
    (void)i;
    memcpy(limit_memory[RIGHT], source, size);
    __asm__ volatile("" ::: "memory");
}
static void put_loop(uint64_t i, uint64_t size)
{
    (void)i;
    snic_put(peer, &board->key[RIGHT], 0, source, size);
}
static void get_loop(uint64_t i, uint64_t size)
{
    (void)i;
    snic_get(peer, &board->key[RIGHT], 0, source, size);
}
static void copy_back_loop(uint64_t i, uint64_t size)
{
    (void)i;
    memcpy(source, limit_memory[RIGHT], size);
    __asm__ volatile("" ::: "memory");
}
static void fetch_add_loop(uint64_t i, uint64_t size)
{
    uint64_t before;
    (void)i, (void)size;
    snic_fetch_add(peer, &board->key[RIGHT], 64, 1, &before);
}
static void plain_add_loop(uint64_t i, uint64_t size)
{
    (void)i, (void)size;
    atomic_fetch_add((_Atomic uint64_t *)limit_memory[RIGHT], 1);
}
static void attach_loop(uint64_t i, uint64_t size)
{
    struct iovec local = {source, size};
    struct iovec remote = {(void *)(uintptr_t)board->foreign_address, size};
    (void)i;
    if (process_vm_writev(other_pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
        die("process_vm_writev");
}
static void foreign_put_loop(uint64_t i, uint64_t size)
{
    (void)i;
    if (snic_put(peer, &board->foreign, 0, source, size) != 0)
        die("put into foreign memory");
}

/* ---- the table ---- */

typedef void (*step_fn)(uint64_t i, uint64_t size);
struct op {
    const char *name;
    const char *impl;
    step_fn left, right; /* right NULL: one-sided */
    int throughput;      /* 1: GB/s from 4096 bytes, Mop/s below; 0: ns per operation or one way */
    const char *text;
};
static const struct op ops[] = {
    {"line", "limit", line_ping, line_pong, 0, "cache line there and back, half of it"},
    {"put_lat", "limit", copy_flag_ping, copy_flag_pong, 0,
     "copy and flag, seen by a polling peer"},
    {"put_lat", "softnic", put_ping, put_pong, 0, "put, seen by a polling peer"},
    {"put_bw", "limit", copy_loop, NULL, 1, "memcpy into the peer's memory"},
    {"put_bw", "softnic", put_loop, NULL, 1, "puts one after the other"},
    {"get_bw", "limit", copy_back_loop, NULL, 1, "memcpy out of the peer's memory"},
    {"get_bw", "softnic", get_loop, NULL, 1, "gets one after the other"},
    {"get_lat", "limit", copy_back_loop, NULL, 0, "memcpy out of the peer's memory, each"},
    {"get_lat", "softnic", get_loop, NULL, 0, "get, each"},
    {"fetch_add", "limit", plain_add_loop, NULL, 0, "atomic addition, each"},
    {"fetch_add", "softnic", fetch_add_loop, NULL, 0, "fetchAdd, each"},
    {"send_lat", "limit", copy_flag_ping, copy_flag_pong, 0, "copy and flag"},
    {"send_lat", "softnic", send_ping, send_pong, 0, "send to the poll that returns it"},
    {"send_bw", "softnic", send_stream, receive_stream, 1, "messages one after the other"},
    {"foreign_bw", "limit", attach_loop, NULL, 1, "process_vm_writev, whole"},
    {"foreign_bw", "softnic", foreign_put_loop, NULL, 1,
     "put into memory that was not allocated by us"},
    {"wake", "limit", futex_ping, futex_pong, 0, "wake a process that sleeps on a futex"},
    {"wake", "softnic", doorbell_ping, doorbell_pong, 0, "wake a process that sleeps in snic_wait"},
};
#define OPS ((int)(sizeof ops / sizeof ops[0]))

#endif
