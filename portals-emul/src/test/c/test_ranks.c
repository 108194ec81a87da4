/* Calls beside the document: ranks and maps (p3rt.h), dumps (p3api/debug.h). */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "p3api/debug.h"
#include "p3rt/p3rt.h"

static void environment(const char *rank, const char *nids, const char *pids)
{
    CHECK_EQ(0, rank ? setenv("PTL_MY_RID", rank, 1) : unsetenv("PTL_MY_RID"));
    CHECK_EQ(0, nids ? setenv("PTL_NIDMAP", nids, 1) : unsetenv("PTL_NIDMAP"));
    CHECK_EQ(0, pids ? setenv("PTL_PIDMAP", pids, 1) : unsetenv("PTL_PIDMAP"));
}

static void ranks_of_the_environment(void)
{
    static const char *const bad[][3] = {
        {NULL, "1:1", "5:6"},
        {"0", NULL, "5:6"},
        {"0", "1:1", NULL},
        {"2", "1:1", "5:6"},
        {"0", "1", "5:6"},
        {"0", "1:x", "5:6"},
        {"0", "1:1:", "5:6"},
        {"0", "", "5:6"},
        {"0", "1:-1", "5:6"},
        {"0:1", "1:1", "5:6"},
        {"0", "1:1", "5:99999999999"},
    };
    unsigned rank = 9, size = 9;
    ptl_process_id_t id;

    CHECK_EQ(PTL_FAIL, PtlGetRank(PTL_INVALID_HANDLE, &rank, &size));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        environment(bad[i][0], bad[i][1], bad[i][2]);
        CHECK_EQ(PTL_FAIL, PtlSetRank(PTL_INVALID_HANDLE, -1, -1));
        CHECK(strstr(PtlExtError(), "PTL_") != NULL);
    }
    CHECK_EQ(PTL_PROCESS_INVALID, PtlGetRankId(PTL_INVALID_HANDLE, 0, &id));
    environment("1", "3:4:5", "10:20:30");
    OK(PtlSetRank(PTL_INVALID_HANDLE, -1, -1));
    OK(PtlGetRank(PTL_INVALID_HANDLE, &rank, &size));
    CHECK_EQ(1, rank);
    CHECK_EQ(3, size);
    OK(PtlGetRankId(PTL_INVALID_HANDLE, 2, &id));
    CHECK(id.nid == 5 && id.pid == 30);
    CHECK_EQ(PTL_PROCESS_INVALID, PtlGetRankId(PTL_INVALID_HANDLE, 3, &id));
    CHECK_EQ(PTL_SEGV, PtlGetRankId(PTL_INVALID_HANDLE, 0, NULL));
    CHECK_EQ(PTL_SEGV, PtlGetRank(PTL_INVALID_HANDLE, NULL, &size));
}

static void maps_of_the_program(void)
{
    ptl_nid_t nids[] = {7, 8, 9}, nids_back[3] = {0};
    ptl_pid_t pids[] = {1, 2}, pids_back[3] = {0};
    unsigned rank, size;
    ptl_process_id_t id;

    OK(PtlSetRank(PTL_INVALID_HANDLE, 4, 5));
    CHECK_EQ(PTL_FAIL, PtlSetRank(PTL_INVALID_HANDLE, 5, 5));
    OK(PtlGetRank(PTL_INVALID_HANDLE, &rank, &size));
    CHECK(rank == 4 && size == 5);
    OK(PtlSetNIDMap(PTL_INVALID_HANDLE, nids, 3));
    OK(PtlSetPIDMap(PTL_INVALID_HANDLE, pids, 2));
    nids[1] = 99; /* copied */
    OK(PtlGetNIDMap(PTL_INVALID_HANDLE, nids_back, 3));
    CHECK(nids_back[0] == 7 && nids_back[1] == 8 && nids_back[2] == 9);
    OK(PtlGetPIDMap(PTL_INVALID_HANDLE, pids_back, 1));
    CHECK(pids_back[0] == 1 && pids_back[1] == 0);
    CHECK_EQ(PTL_FAIL, PtlGetPIDMap(PTL_INVALID_HANDLE, pids_back, 3));
    OK(PtlGetRankId(PTL_INVALID_HANDLE, 1, &id));
    CHECK(id.nid == 8 && id.pid == 2);
    CHECK_EQ(PTL_PROCESS_INVALID, PtlGetRankId(PTL_INVALID_HANDLE, 2, &id));
    CHECK_EQ(PTL_SEGV, PtlSetNIDMap(PTL_INVALID_HANDLE, NULL, 3));
    CHECK_EQ(PTL_SEGV, PtlGetPIDMap(PTL_INVALID_HANDLE, NULL, 1));
}

/* What a call writes to standard error. */
static void captured(char *text, size_t size, int (*call)(void))
{
    int kept = dup(2), ends[2];
    ssize_t length;

    CHECK(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    OK(call());
    fflush(stderr);
    CHECK(dup2(kept, 2) == 2);
    close(ends[1]);
    length = read(ends[0], text, size - 1);
    text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
}

static ptl_handle_me_t second;

static int dump_table(void)
{
    return PtlTblDump(ni, PORTAL);
}

static int dump_entry(void)
{
    return PtlMEDump(second);
}

static void dumps(void)
{
    static uint8_t bytes[16];
    char text[4096];

    open_interface(PTL_EXT_REF);
    post(bytes, 16, 3, BOTH, PTL_EQ_NONE);
    OK(PtlMEAttach(ni, PORTAL, own_id, 0xabc, 0xf, PTL_RETAIN, PTL_INS_BEFORE, &second));
    captured(text, sizeof(text), dump_table);
    CHECK(strstr(text, "2 match entries") != NULL);
    CHECK(strstr(text, "0x0000000000000abc") < strstr(text, "0x0000000000001234"));
    CHECK(strstr(text, "threshold 3") != NULL && strstr(text, "nid any") != NULL);
    captured(text, sizeof(text), dump_entry);
    CHECK(strstr(text, "ignored 0x000000000000000f") != NULL);
    CHECK(strstr(text, "threshold") == NULL);
    CHECK_EQ(PTL_PT_INDEX_INVALID, PtlTblDump(ni, 64));
    CHECK_EQ(PTL_PT_INDEX_INVALID, PtlTblDump(ni, -1));
    CHECK_EQ(PTL_NI_INVALID, PtlTblDump(PTL_INVALID_HANDLE, 0));
    OK(PtlMEUnlink(second));
    CHECK_EQ(PTL_ME_INVALID, PtlMEDump(second));
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "ranks_of_the_environment", ranks_of_the_environment},
        {"", "maps_of_the_program", maps_of_the_program},
        {"", "dumps", dumps},
    };

    return check_main(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
