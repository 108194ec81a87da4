/* What needs privileges, what is asked of memory when it is registered, regions that are reserved.
 */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define RW (PROT_READ | PROT_WRITE)

/* ---- administration ---- */

static void administer(gni_return_t expected)
{
    gni_job_limits_t limits;
    gni_ntt_descriptor_t table;
    uint32_t base = 77;

    memset(&limits, 0xff, sizeof(limits));
    memset(&table, 0, sizeof(table));
    CODE(expected, GNI_ConfigureJob(0, 1, PTAG, COOKIE, &limits));
    CODE(expected, GNI_ConfigureNTT(0, &table, &base));
    CODE(expected, GNI_ConfigureNTTandJob(0, 1, PTAG, COOKIE, &limits, &table, &base));
    CHECK_EQ(expected == GNI_RC_SUCCESS ? 0 : 77, base);
    CODE(expected, GNI_SuspendJob(0, 1, PTAG, COOKIE, 10));
    CODE(expected, GNI_ResumeJob(0, 1, PTAG, COOKIE));
    CODE(expected, GNI_SetBIConfig(0, 50, 50, GNI_BI_FLAG_APPLY_NOW));
    CODE(expected, GNI_SetJobResInfo(0, PTAG, GNI_JOB_RES_MDD, 100));
}

static void administration(void)
{
    gni_job_limits_t limits;
    gni_ntt_descriptor_t table;
    gni_bi_desc_t injection;
    uint32_t grain = 7;

    memset(&limits, 0xff, sizeof(limits));
    memset(&table, 0, sizeof(table));
    administer(GNI_RC_PERMISSION_ERROR);
    setenv("GNI_SHIM_PRIVILEGED", "1", 1);
    administer(GNI_RC_SUCCESS);
    CODE(GNI_RC_NO_MATCH, GNI_ConfigureJob(9, 1, PTAG, COOKIE, &limits));
    CODE(GNI_RC_INVALID_PARAM, GNI_ConfigureJob(0, 1, PTAG, COOKIE, NULL));
    CODE(GNI_RC_NO_MATCH, GNI_ConfigureNTT(9, &table, NULL));
    CODE(GNI_RC_INVALID_PARAM, GNI_ConfigureNTT(0, NULL, NULL));
    CODE(GNI_RC_NO_MATCH, GNI_SuspendJob(9, 1, PTAG, COOKIE, 10));
    CODE(GNI_RC_INVALID_PARAM, GNI_SetBIConfig(0, 101, 0, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_SetBIConfig(0, 1, 1, 0x10));
    CODE(GNI_RC_NO_MATCH, GNI_SetBIConfig(9, 1, 1, 0));
    CODE(GNI_RC_INVALID_PARAM, GNI_SetJobResInfo(0, PTAG, GNI_JOB_RES_LAST, 1));
    OK(GNI_GetBIConfig(0, &injection));
    CHECK_EQ(GNI_BI_INJECT_BW_MAX, injection.current_bw);
    CODE(GNI_RC_INVALID_PARAM, GNI_GetBIConfig(0, NULL));
    CODE(GNI_RC_NO_MATCH, GNI_GetBIConfig(9, &injection));
    OK(GNI_BISyncWait(0, 0));
    CODE(GNI_RC_NO_MATCH, GNI_BISyncWait(9, 0));
    OK(GNI_GetNttGran(0, &grain));
    CHECK_EQ(0, grain);
    CODE(GNI_RC_NO_MATCH, GNI_GetNttGran(9, &grain));
}

/* ---- what is registered must be mapped, and writable ---- */

static gni_return_t try_register(struct node *n, uint8_t *at, uint64_t length, uint32_t flags)
{
    gni_mem_handle_t handle = {5, 6};
    gni_return_t code = GNI_MemRegister(n->nic, (uint64_t)(uintptr_t)at, length, NULL, flags,
                                        (uint32_t)-1, &handle);

    if (code == GNI_RC_SUCCESS)
        OK(GNI_MemDeregister(n->nic, &handle));
    else
        CHECK(handle.qword1 == 5 && handle.qword2 == 6);
    return code;
}

static void unmapped(const char *how)
{
    struct node n;
    uint8_t *at = mmap(NULL, 8 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    setenv("GNI_SHIM_CHECK_MAPS", how, 1);
    node_open(&n, 1, 0, 0);
    CHECK(at != MAP_FAILED);
    OK(try_register(&n, at, 8 * PAGE, GNI_MEM_READWRITE));
    CHECK(mprotect(at + 2 * PAGE, PAGE, PROT_READ) == 0); /* three mappings: rw r rw */
    CODE(GNI_RC_PERMISSION_ERROR, try_register(&n, at, 8 * PAGE, GNI_MEM_READWRITE));
    CODE(GNI_RC_PERMISSION_ERROR, try_register(&n, at + 2 * PAGE, 1, GNI_MEM_READWRITE));
    OK(try_register(&n, at, 8 * PAGE, GNI_MEM_READ_ONLY));
    OK(try_register(&n, at, 2 * PAGE, GNI_MEM_READWRITE));
    OK(try_register(&n, at + 3 * PAGE + 5, 11, GNI_MEM_READWRITE));
    CHECK(mprotect(at + 2 * PAGE, PAGE, PROT_NONE) == 0);
    CODE(GNI_RC_PERMISSION_ERROR, try_register(&n, at, 8 * PAGE, GNI_MEM_READ_ONLY));
    CHECK(munmap(at + 2 * PAGE, PAGE) == 0);
    CODE(GNI_RC_INVALID_PARAM, try_register(&n, at, 8 * PAGE, GNI_MEM_READ_ONLY));
    CODE(GNI_RC_INVALID_PARAM, try_register(&n, at + 2 * PAGE, 1, GNI_MEM_READWRITE));
    CODE(GNI_RC_INVALID_PARAM, try_register(&n, at + PAGE, PAGE + 1, GNI_MEM_READWRITE));
    OK(try_register(&n, at + PAGE, PAGE, GNI_MEM_READWRITE));
    setenv("GNI_SHIM_CHECK_MAPS", "0", 1);
    OK(try_register(&n, at, 8 * PAGE, GNI_MEM_READWRITE)); /* the first transfer finds out */
    node_close(&n);
}

static void unmapped_memory(void)
{
    unmapped("1");
}

/* What kernels older than 6.11 need. */
static void unmapped_memory_as_text(void)
{
    unmapped("2");
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "administration", administration},
        {"", "unmapped_memory", unmapped_memory},
        {"", "unmapped_memory_as_text", unmapped_memory_as_text},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
