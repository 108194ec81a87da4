/* What needs privileges, what is asked of memory when it is registered, regions that are reserved.
 */
#define _GNU_SOURCE
#include "area_check.h"
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

/* ---- regions whose pages come later ---- */

static gni_return_t update(struct node *n, uint8_t *at, uint64_t length, gni_mem_handle_t *handle)
{
    return GNI_MemRegister(n->nic, (uint64_t)(uintptr_t)at, length, NULL, GNI_MEM_UPDATE_REGION,
                           (uint32_t)-1, handle);
}

static void check_table(struct node *n)
{
    char text[1024] = "";

    if (nic_check(n->nic, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "%s", text);
}

/* A puts a page and a half at `at`, which is filled by it or not touched. */
static void put_there(struct node *a, struct node *b, uint8_t *at, gni_mem_handle_t handle,
                      unsigned status)
{
    gni_post_descriptor_t d = transaction(GNI_POST_RDMA_PUT, a, b, PAGE + PAGE / 2);
    static uint32_t seed = 5;

    d.remote_addr = (uint64_t)(uintptr_t)at;
    d.remote_mem_hndl = handle;
    fill(a->memory, d.length, ++seed);
    if (status != 0) {
        expect_error(a, &d, status);
        return;
    }
    OK(post_and_wait(a, &d));
    CHECK(is_filled(at, d.length, seed));
    memset(at, 0, d.length);
    d.type = GNI_POST_RDMA_GET; /* and as a local handle: from there into the region */
    d.src_cq_hndl = NULL;       /* the first post filled it in */
    d.local_addr = (uint64_t)(uintptr_t)at;
    d.local_mem_hndl = handle;
    d.remote_addr = (uint64_t)(uintptr_t)a->memory;
    d.remote_mem_hndl = a->handle;
    OK(post_and_wait(b, &d));
    CHECK(is_filled(at, d.length, seed));
}

/* `checks`: GNI_SHIM_CHECK_MAPS. */
static void reserve_and_fill(const char *checks)
{
    gni_mem_handle_t handle, before;
    struct node a, b;
    /* At a low address: the first of all mappings. */
    uint8_t *at =
        mmap((void *)0x20000000, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED);
    setenv("GNI_SHIM_CHECK_MAPS", checks, 1);
    pair_open(&a, &b, 0, 0);
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)at, 16 * PAGE, b.dst, GNI_MEM_RESERVE_REGION,
                       (uint32_t)-1, &handle));
    before = handle;
    check_table(&b);
    put_there(&a, &b, at, handle, 7);
    CODE(GNI_RC_PERMISSION_ERROR, update(&b, at, 2 * PAGE, &handle)); /* no pages yet */
    CHECK(mprotect(at, 8 * PAGE, RW) == 0);
    OK(update(&b, at + 4 * PAGE, 2 * PAGE, &handle));
    put_there(&a, &b, at + 4 * PAGE + 8, handle, 0);
    put_there(&a, &b, at, handle, 9);
    put_there(&a, &b, at + 6 * PAGE, handle, 9);
    OK(update(&b, at, 2 * PAGE, &handle)); /* before the first */
    OK(update(&b, at, 2 * PAGE, &handle)); /* again */
    OK(update(&b, at + PAGE, PAGE, &handle));
    CODE(GNI_RC_INVALID_PARAM, update(&b, at + PAGE, 2 * PAGE, &handle)); /* half is there */
    CODE(GNI_RC_INVALID_PARAM, update(&b, at + 15 * PAGE, 2 * PAGE, &handle));
    put_there(&a, &b, at, handle, 0);
    put_there(&a, &b, at + 4 * PAGE + 8, handle, 0);
    OK(update(&b, at + 2 * PAGE, 2 * PAGE, &handle)); /* between the two */
    put_there(&a, &b, at + PAGE + PAGE / 2 + 4, handle, 0);
    put_there(&a, &b, at + 3 * PAGE, handle, 0);
    CHECK(memcmp(&before, &handle, sizeof(handle)) == 0);
    check_table(&b);
    OK(GNI_MemDeregister(b.nic, &handle));
    put_there(&a, &b, at, handle, 7);
    CODE(GNI_RC_INVALID_PARAM, update(&b, at, PAGE, &handle));
    check_table(&b);
    node_close(&a);
    node_close(&b);
}

static void reserved_region(void)
{
    reserve_and_fill("1");
}

/* The text of all mappings is read anew each time, also its beginning. */
static void reserved_region_of_an_older_kernel(void)
{
    reserve_and_fill("2");
}

static void reserved_for_nothing(void)
{
    gni_mem_handle_t handle, other;
    struct node n;
    uint8_t *at = mmap(NULL, 40 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t address = (uint64_t)(uintptr_t)at;

    CHECK(at != MAP_FAILED);
    node_open(&n, 1, 0, 0);
    CODE(GNI_RC_INVALID_PARAM,
         GNI_MemRegister(n.nic, address, PAGE, NULL, GNI_MEM_RESERVE_REGION | GNI_MEM_UPDATE_REGION,
                         (uint32_t)-1, &handle));
    OK(GNI_MemRegister(n.nic, address, 40 * PAGE, NULL, GNI_MEM_RESERVE_REGION, (uint32_t)-1,
                       &handle));
    for (uint32_t i = 0; i < 32; i++)
        OK(update(&n, at + i * PAGE, PAGE, &handle));
    CODE(GNI_RC_ERROR_RESOURCE, update(&n, at + 33 * PAGE, PAGE, &handle));
    check_table(&n);
    CODE(GNI_RC_INVALID_PARAM, update(&n, n.memory, PAGE, &n.handle)); /* not reserved */
    OK(GNI_MemRegister(n.nic, address, PAGE, NULL, GNI_MEM_RESERVE_REGION, (uint32_t)-1, &other));
    OK(GNI_MemDeregister(n.nic, &other));
    CODE(GNI_RC_INVALID_PARAM, GNI_MemDeregister(n.nic, &other));
    check_table(&n);
    node_close(&n); /* the first goes with it */
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "administration", administration},
        {"", "unmapped_memory", unmapped_memory},
        {"", "unmapped_memory_as_text", unmapped_memory_as_text},
        {"", "reserved_region", reserved_region},
        {"", "reserved_region_of_an_older_kernel", reserved_region_of_an_older_kernel},
        {"", "reserved_for_nothing", reserved_for_nothing},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
