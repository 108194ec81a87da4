/*
 * The step scheduler: two or three actors in one address space, one running at a time. Every
 * labelled step is a place where it may change over to another. A story is run for every first
 * actor and every pair of such places (with three actors for a sample of the pairs and every choice
 * of who goes on), so that all orders with up to two preemptions are seen. A wait changes over by
 * itself and is not counted. For the personalities; the schedule.h of each includes it.
 */
#ifndef STEP_SCHEDULE_H
#define STEP_SCHEDULE_H
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "harness.h"
#include "repeats.h"

extern _Thread_local void (*snic_step_hook)(const char *label);

#define ACTORS_MAX 3

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
static int is_over; /* the actors' threads end; until then they take part in every order */
static long steps, points[2];
static int choices[2]; /* with three actors: which of the two others goes on */

struct story {
    void (*prepare)(void);
    void (*bodies[ACTORS_MAX])(void);
    int count;
    void (*judge)(void);
    long every; /* of the pairs of places, each how manieth */
};

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

static int is_wait(const char *label)
{
    return strcmp(label, "lock.spin") == 0 || strcmp(label, "deregister.wait") == 0 ||
           strcmp(label, "ptl.getput.wait") == 0;
}

static void step(const char *label)
{
    if (is_wait(label)) {
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
    for (;;) {
        while (sem_wait(&actors[self].go) != 0)
            ;
        if (is_over)
            return NULL;
        snic_step_hook = step;
        actors[self].run();
        snic_step_hook = NULL;
        actors[self].done = 1;
        other = other_actor(0);
        if (other >= 0)
            sem_post(&actors[other].go);
        sem_post(&finished);
    }
}

static void actors_start(const struct story *s)
{
    actor_count = s->count;
    is_over = 0;
    sem_init(&finished, 0, 0);
    for (int i = 0; i < s->count; i++) {
        actors[i] = (struct actor){.run = s->bodies[i]};
        sem_init(&actors[i].go, 0, 0);
        CHECK_EQ(0, pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]));
    }
}

static void actors_end(void)
{
    is_over = 1;
    for (int i = 0; i < actor_count; i++)
        sem_post(&actors[i].go);
    for (int i = 0; i < actor_count; i++)
        pthread_join(actors[i].thread, NULL);
}

/* One run; returns the number of steps. */
static long run_once(int first, long p, long q)
{
    steps = 0;
    points[0] = p;
    points[1] = q;
    for (int i = 0; i < actor_count; i++)
        actors[i].done = 0;
    sem_post(&actors[first].go);
    for (int i = 0; i < actor_count; i++)
        while (sem_wait(&finished) != 0)
            ;
    return steps;
}

/* Which order is being judged; for messages. */
static char order_text[128];

/* Runs a story in all these orders, of which there must be more than `fewest`. */
static void explore_orders(const struct story *s, long fewest)
{
    /* --long: every pair of places at which processes are interrupted, instead of a share */
    long runs = 0, every = getenv("VERBENA_LONG") != NULL ? 1 : s->every * one_round_of();

    actors_start(s);
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
                    snprintf(order_text, sizeof(order_text), "first %d, changes at %ld and %ld",
                             first, p, q);
                    s->prepare();
                    taken = run_once(first, p, q);
                    length = taken > length ? taken : length;
                    s->judge();
                    runs++;
                }
        }
    actors_end();
    CHECK(runs > fewest / one_round_of());
    printf("# %ld orders\n", runs);
    fflush(stdout);
}

#endif
