/*
 * The step scheduler: two or three actors in one address space, one running at a time. Every
 * labelled step is a place where it may change over to another; a small story is run for every
 * first actor and every pair of such places (and, with three actors, every choice of who goes on),
 * so that all orders with up to two preemptions are seen. A wait changes over by itself and is not
 * counted.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "check.h"

extern _Thread_local void (*snic_step_hook)(const char *label);

#define ACTORS_MAX 3

/* ---- the scheduler ---- */

struct actor {
    void (*run)(void);
    pthread_t thread;
    sem_t go;
    int done;
};
static struct actor actors[ACTORS_MAX];
static int actor_count;
static _Thread_local int self;
static sem_t finished;
static long steps, points[2];
static int choices[2]; /* with three actors: which of the two others goes on */

static int other_actor(int choice)
{
    for (int i = 0; i < actor_count - 1; i++) {
        int other = (self + 1 + (choice + i) % (actor_count - 1)) % actor_count;

        if (!actors[other].done)
            return other;
    }
    return -1;
}

static void change_over(int choice)
{
    int other = other_actor(choice);

    if (other < 0)
        return;
    sem_post(&actors[other].go);
    while (sem_wait(&actors[self].go) != 0)
        ;
}

static void step(const char *label)
{
    if (strcmp(label, "lock.spin") == 0 || strcmp(label, "ptl.getput.wait") == 0) {
        change_over(0); /* in turn: two who wait must not see only each other */
        return;
    }
    steps++;
    for (int i = 0; i < 2; i++)
        if (steps == points[i]) {
            change_over(choices[i]);
            return;
        }
}

static void *actor_main(void *argument)
{
    int other;

    self = (int)((struct actor *)argument - actors);
    while (sem_wait(&actors[self].go) != 0)
        ;
    snic_step_hook = step;
    actors[self].run();
    snic_step_hook = NULL;
    actors[self].done = 1;
    other = other_actor(0);
    if (other >= 0)
        sem_post(&actors[other].go);
    sem_post(&finished);
    return NULL;
}

/* One run; returns the number of steps. */
static long run_once(void (*const *bodies)(void), int count, int first, long p, long q)
{
    actor_count = count;
    steps = 0;
    points[0] = p;
    points[1] = q;
    sem_init(&finished, 0, 0);
    for (int i = 0; i < count; i++) {
        actors[i] = (struct actor){.run = bodies[i]};
        sem_init(&actors[i].go, 0, 0);
    }
    for (int i = 0; i < count; i++)
        pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]);
    sem_post(&actors[first].go);
    for (int i = 0; i < count; i++)
        while (sem_wait(&finished) != 0)
            ;
    for (int i = 0; i < count; i++)
        pthread_join(actors[i].thread, NULL);
    return steps;
}

/* ---- the stage: a target and initiators ---- */

static ptl_handle_ni_t target, from[ACTORS_MAX];
static ptl_handle_md_t source[ACTORS_MAX], posted;
static ptl_handle_eq_t queue;
static uint8_t memory[256], bytes[ACTORS_MAX][64];
static int outcome[ACTORS_MAX], code;

static void set_stage(void)
{
    check_lock_timeout_ms = CHECK_PATIENT_MS;
    for (int i = 0; i < ACTORS_MAX; i++) {
        open_interface(PTL_EXT_REF);
        from[i] = ni;
    }
    open_interface(PTL_EXT_REF);
    target = ni;
    target_id = own_id;
    queue = new_eq(64);
    for (int i = 0; i < ACTORS_MAX; i++) {
        memset(bytes[i], 1 + i, sizeof(bytes[i]));
        OK(PtlMDBind(from[i], make_md(bytes[i], 8, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &source[i]));
        /* Attaching takes steps only once: it is not part of the stories. */
        OK(put_to(source[i], PTL_NO_ACK_REQ, 0, 0, 0));
    }
}

struct story {
    void (*prepare)(void);
    void (*bodies[ACTORS_MAX])(void);
    int count;
    void (*judge)(void);
    long every; /* of the pairs of places, each how manieth; all of them with VERBENA_LONG=1 */
};

static void judge_run(const struct story *s, int first, long p, long q)
{
    char text[256];

    s->judge();
    if (PtlExtCheck(target, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "first %d, changes at %ld and %ld: %s", first, p, q, text);
}

static void explore_story(const struct story *s)
{
    long runs = 0, every = getenv("VERBENA_LONG") != NULL ? 1 : s->every;

    set_stage();
    for (int first = 0; first < s->count; first++)
        for (int choice = 0; choice < (s->count == 3 ? 4 : 1); choice++) {
            long length = 1;

            choices[0] = choice & 1;
            choices[1] = choice >> 1;
            for (long p = 1; p <= length; p++)
                for (long q = p; q <= length; q++) {
                    long taken;

                    if (q != p && (p + 3 * q + choice) % every != 0)
                        continue;
                    s->prepare();
                    taken = run_once(s->bodies, s->count, first, p, q);
                    length = taken > length ? taken : length;
                    judge_run(s, first, p, q);
                    runs++;
                }
        }
    CHECK(runs > 300);
    printf("# %ld orders\n", runs);
}

static inline void explore(void (*prepare)(void), void (*a)(void), void (*b)(void),
                           void (*judge)(void))
{
    explore_story(&(struct story){prepare, {a, b, NULL}, 2, judge, 1});
}

static void put_of(int which)
{
    OK(PtlPut(source[which], PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, (uint64_t)which));
    outcome[which] = PtlExtLastOutcome();
}

static inline void put_first(void)
{
    put_of(0);
}

static inline void put_second(void)
{
    put_of(1);
}

static inline void put_third(void)
{
    put_of(2);
}

/* ---- swaps of one word ---- */

static ptl_handle_md_t landing[2];
static uint8_t landed[2][8];

static inline void post_word(int threshold)
{
    memset(memory, 9, 8);
    posted = post(memory, 8, threshold, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    for (int i = 0; i < 2; i++)
        OK(PtlMDBind(from[i], make_md(landed[i], 8, 1, 0, PTL_EQ_NONE), PTL_UNLINK, &landing[i]));
}

static inline void swap_of(int which)
{
    OK(PtlGetPut(landing[which], source[which], target_id, PORTAL, 0, BITS, 0, 0));
    outcome[which] = PtlExtLastOutcome();
}

static inline void swap_first(void)
{
    swap_of(0);
}

static inline void swap_second(void)
{
    swap_of(1);
}

#endif
