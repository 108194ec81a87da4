/*
 * What programs share that open several interfaces in one address space and do not fork: a case
 * ends at what does not hold, and the next one begins.
 */
#ifndef ONE_PROCESS_H
#define ONE_PROCESS_H
#include "p3rt/p3rt.h"
#include "portals3.h"
#include "portals3_ext.h"
#include "repeats.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORTAL 4

static uint64_t seed;
static int failed;
static const char *why = "";

#define FAIL(text)                                                                                 \
    do {                                                                                           \
        if (!failed)                                                                               \
            why = text;                                                                            \
        failed = 1;                                                                                \
        return;                                                                                    \
    } while (0)
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL(#condition);                                                                      \
    } while (0)

static const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};

static inline void open_one(ptl_handle_ni_t *ni, ptl_process_id_t *id)
{
    ptl_ext_options_t options = {.event_slots = 8192, .lock_timeout_ms = 60000};
    ptl_ni_limits_t limits = {512, 512, 16, 7, 15, 64, 512, 64};

    MUST(PtlExtNIOpen(&options, &limits, NULL, ni, NULL, 0) == PTL_OK);
    MUST(PtlGetId(*ni, id) == PTL_OK);
}

static inline int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

struct threads_case {
    const char *name;
    void (*run)(void);
};

static inline int run_cases(const struct threads_case *cases, size_t count)
{
    char directory[] = "/dev/shm/portals-test-XXXXXX";
    const char *text = getenv("PORTALS_TEST_SEED");
    int interfaces, passed = 0, bad = 0;

    alarm(280);
    seed = text ? strtoull(text, NULL, 0) : 20260711u;
    printf("# seed %llu (PORTALS_TEST_SEED)\n", (unsigned long long)seed);
    if (mkdtemp(directory) == NULL || PtlInit(&interfaces) != PTL_OK)
        return 2;
    setenv("VERBENA_SHM_DIR", directory, 1);
    for (size_t i = 0; i < count; i++) {
        failed = 0;
        cases[i].run();
        if (failed)
            printf("not ok %s: %s (%s)\n", cases[i].name, why, PtlExtError());
        else
            printf("ok %s\n", cases[i].name);
        passed += !failed;
        bad += failed;
    }
    PtlFini();
    printf("%d passed, %d failed, 0 skipped\n", passed, bad);
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return bad != 0;
}
#endif
