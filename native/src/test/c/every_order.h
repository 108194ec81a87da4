/*
 * A deterministic scheduler for two actors in one address space. Each labelled step is a point
 * where the other may go on; small cases are run once for every order of steps. Only one actor runs
 * at a time, so that a run depends on nothing but the list of choices.
 */
#ifndef EVERY_ORDER_H
#define EVERY_ORDER_H
#define _GNU_SOURCE
#include "softnic_layout.h"
#include "test.h"
#include <pthread.h>
#include <semaphore.h>

#define DEPTH_MAX 4096
#define RUNS_MAX 20000

static char why[SNIC_WHY_MAX];

struct actor {
    void (*run)(void *);
    void *argument;
    pthread_t thread;
    sem_t go;
    int done;
    int waits; /* it cannot go on before the other does something */
};
static struct actor actors[2];
static sem_t over; /* both are through a run */
static long steps;
static int is_over; /* the actors' threads end; until then they take part in every run */
static _Thread_local struct actor *self;
static uint8_t choices[DEPTH_MAX], options[DEPTH_MAX];
static int depth, prefix;
static const char *last_label[2];

/* Steps of loops that wait for the other. */
static int is_wait(const char *label)
{
    return strcmp(label, "lock.spin") == 0 || strcmp(label, "deregister.wait") == 0 ||
           strcmp(label, "test.retry") == 0;
}

/* Steps that change nothing which the stories here look at. */
static int is_idle(const char *label)
{
    static const char *const idle[] = {"ring.", "detach.",    "control.", "write.",
                                       "read.", "end.before", "send.rung"};
    for (int i = 0; i < COUNT(idle); i++)
        if (strncmp(label, idle[i], strlen(idle[i])) == 0)
            return 1;
    return 0;
}

static int choose(int last)
{
    int can[2], n = 0;
    for (int i = 0; i < 2; i++)
        if (!actors[i].done && !actors[i].waits)
            can[n++] = i;
    if (n == 0) { /* both wait, or the one that is left does: take turns, no choice */
        int other = !last;
        return !actors[other].done ? other : last;
    }
    if (n == 1)
        return can[0];
    if (depth >= DEPTH_MAX)
        test_fail(__FILE__, __LINE__, "a run of more than %d choices", DEPTH_MAX);
    if (depth >= prefix)
        choices[depth] = 0;
    options[depth] = 2;
    return can[choices[depth++]];
}

/* The step of the actor is over: another goes on, or itself. */
static void pass_control(void)
{
    int own = (int)(self - actors), next, is_done = self->done;
    actors[!own].waits = 0; /* something happened: it may look again */
    if (++steps > 100000)
        test_fail(__FILE__, __LINE__, "no end: at %s and %s", last_label[0], last_label[1]);
    if (actors[0].done && actors[1].done) {
        sem_post(&over);
        return;
    }
    next = choose(own);
    if (next == own)
        return;
    sem_post(&actors[next].go);
    /* One that is done waits for the next run in its main; from here on it may begin. */
    while (!is_done && sem_wait(&self->go) != 0)
        ;
}

static void hook(const char *label)
{
    if (is_idle(label))
        return;
    last_label[self - actors] = label;
    self->waits = is_wait(label);
    pass_control();
}

static void *actor_main(void *argument)
{
    self = argument;
    for (;;) {
        while (sem_wait(&self->go) != 0)
            ;
        if (is_over)
            return NULL;
        snic_step_hook = hook;
        self->run(self->argument);
        snic_step_hook = NULL;
        self->done = 1;
        pass_control();
    }
}

static void actors_start(void)
{
    is_over = 0;
    sem_init(&over, 0, 0);
    for (int i = 0; i < 2; i++) {
        sem_init(&actors[i].go, 0, 0);
        CHECK_EQ(pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]), 0);
    }
}

static void actors_end(void)
{
    is_over = 1;
    for (int i = 0; i < 2; i++) {
        sem_post(&actors[i].go);
        pthread_join(actors[i].thread, NULL);
    }
}

/* One run with the present choices. */
static void run_once(void)
{
    for (int i = 0; i < 2; i++)
        actors[i].done = actors[i].waits = 0;
    depth = 0;
    steps = 0;
    sem_post(&actors[choose(0)].go);
    while (sem_wait(&over) != 0)
        ;
}

/* The next list of choices, depth first; 0: there is none. */
static int next_choices(void)
{
    while (depth > 0 && choices[depth - 1] + 1 >= options[depth - 1])
        depth--;
    if (depth == 0)
        return 0;
    choices[depth - 1]++;
    prefix = depth;
    return 1;
}

struct story {
    void (*prepare)(void);
    void (*first)(void *);
    void (*second)(void *);
    void (*check)(void);
    int fewest; /* runs below this number mean that the scheduler does not see the steps */
};

static void explore(const struct story *s)
{
    int runs = 0;
    prefix = 0;
    actors[0].run = s->first;
    actors[1].run = s->second;
    actors_start();
    do {
        s->prepare();
        run_once();
        s->check();
        if (++runs > RUNS_MAX)
            test_fail(__FILE__, __LINE__, "more than %d orders", RUNS_MAX);
    } while (next_choices());
    actors_end();
    if (runs < s->fewest)
        test_fail(__FILE__, __LINE__, "only %d orders", runs);
}

#endif
