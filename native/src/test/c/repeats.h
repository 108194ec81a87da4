/* How often tests that repeat themselves do so. The plain build runs all rounds; a sanitizer or an
 * emulator makes each several times as long and needs fewer to see what it is there for. */
#ifndef REPEATS_H
#define REPEATS_H
#include <stdlib.h>

/* Of so many rounds one is run. */
static inline int one_round_of(void)
{
    /* --long: every round of random tests and every order of steps with sanitizers and emulator */
    if (getenv("VERBENA_LONG") != NULL)
        return 1;
#if defined(__SANITIZE_THREAD__)
    return 10;
#elif defined(__SANITIZE_ADDRESS__) || defined(TEST_EMULATED)
    return 5;
#else
    return 1;
#endif
}

static inline int repeats(int all)
{
    return (all + one_round_of() - 1) / one_round_of();
}

#endif
