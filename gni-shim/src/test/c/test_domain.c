/* Communication domains, devices, isolation, questions (assertions 6 to 13, 107 to 110). */
#include "check.h"

static void create_without_place(void)
{
    CODE(GNI_RC_INVALID_PARAM, GNI_CdmCreate(1, PTAG, COOKIE, 0, NULL));
}

static void unknown_device(void)
{
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    uint32_t address;

    OK(GNI_CdmCreate(1, PTAG, COOKIE, 0, &cdm));
    CODE(GNI_RC_NO_MATCH, GNI_CdmAttach(cdm, 77, &address, &nic));
    CODE(GNI_RC_NO_MATCH, GNI_CdmGetNicAddress(77, &address, NULL));
    OK(GNI_CdmDestroy(cdm));
}

static void attach_twice(void)
{
    struct node n;
    gni_nic_handle_t nic;
    uint32_t address;

    node_attach(&n, 1, COOKIE, 0);
    CODE(GNI_RC_INVALID_STATE, GNI_CdmAttach(n.cdm, 0, &address, &nic));
    node_close(&n);
}

static void two_domains_one_device(void)
{
    struct node a, b, twin = {0};
    uint32_t address, cpu;

    node_attach(&a, 1, COOKIE, 0);
    node_attach(&b, 2, COOKIE, 0);
    CHECK_EQ(a.pe, b.pe);
    OK(GNI_CdmGetNicAddress(0, &address, &cpu));
    CHECK_EQ(a.pe, address);
    OK(GNI_CdmCreate(2, PTAG, COOKIE, 0, &twin.cdm));
    CODE(GNI_RC_INVALID_STATE, GNI_CdmAttach(twin.cdm, 0, &address, &twin.nic));
    node_close(&b);
    OK(GNI_CdmAttach(twin.cdm, 0, &address, &twin.nic));
    node_close(&a);
    node_close(&twin);
}

static void any_device(void)
{
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    uint32_t address;

    OK(GNI_CdmCreate(1, PTAG, COOKIE, 0, &cdm));
    OK(GNI_CdmAttach(cdm, (uint32_t)-1, &address, &nic));
    CODE(GNI_RC_INVALID_STATE, GNI_CdmAttach(cdm, (uint32_t)-1, &address, &nic));
    OK(GNI_CdmDestroy(cdm));
}

static void destroy_twice(void)
{
    struct node n;
    gni_cq_handle_t cq;

    node_attach(&n, 1, COOKIE, 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_CdmDestroy(NULL));
    node_close(&n);
    CODE(GNI_RC_INVALID_PARAM, GNI_CdmDestroy(n.cdm));
    CODE(GNI_RC_INVALID_PARAM, GNI_CqCreate(n.nic, 8, 0, 0, NULL, NULL, &cq));
}

/* Handles that are none: of another kind, made up, freed. None is ever followed. */
static void hostile_handles(void)
{
    struct node n;
    uint32_t seed = 12345;
    gni_cq_entry_t entry;

    node_open(&n, 1, 0, 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_CqGetEvent((gni_cq_handle_t)(void *)n.ep, &entry));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpBind((gni_ep_handle_t)(void *)n.cq, 1, 1));
    for (int i = 0; i < 200000; i++) {
        uint64_t value = (uint64_t)(uintptr_t)n.ep;

        seed = seed * 1664525u + 1013904223u;
        value ^= (uint64_t)1 << (seed >> 26) | (uint64_t)(seed & 0xff0) << (seed >> 28);
        if (value == (uint64_t)(uintptr_t)n.ep)
            continue;
        CODE(GNI_RC_INVALID_PARAM, GNI_EpIdle((gni_ep_handle_t)(uintptr_t)value));
    }
    OK(GNI_EpIdle(n.ep));
    node_close(&n);
    CODE(GNI_RC_INVALID_PARAM, GNI_EpIdle(n.ep));
}

/* The same instances under another cookie: nothing goes from one to the other. */
static void other_cookie(void)
{
    struct node a, b, spy;
    gni_post_descriptor_t d;
    gni_post_state_t state;
    gni_cq_handle_t cq;
    uint8_t mine[8] = "cookie", theirs[8] = "";
    uint32_t pe, inst;

    pair_open(&a, &b, 0, 0);
    node_attach(&spy, 7, COOKIE + 1, 0);
    OK(GNI_CqCreate(spy.nic, 64, 0, 0, NULL, NULL, &cq));
    spy.cq = cq;
    OK(GNI_EpCreate(spy.nic, cq, &spy.ep));
    OK(GNI_EpBind(spy.ep, b.pe, b.inst));
    spy.memory = a.memory;
    fill(a.memory, 4096, 5);
    d = transaction(GNI_POST_FMA_PUT, &spy, &b, 64);
    expect_error(&spy, &d, 11);
    d = transaction(GNI_POST_AMO, &spy, &b, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    d.first_operand = 1;
    expect_error(&spy, &d, 11);
    CHECK(is_zero(b.memory, MEMORY_BYTES));
    OK(GNI_EpPostData(b.ep, mine, 8, theirs, 8));
    OK(GNI_EpPostDataWId(spy.ep, mine, 8, theirs, 8, 1));
    sleep_ms(30);
    OK(GNI_EpPostDataTestById(spy.ep, 1, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_PENDING, state);
    OK(GNI_EpPostDataTest(b.ep, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_PENDING, state);
}

static void other_ptag(void)
{
    struct node b;
    gni_cdm_handle_t cdm;
    struct node spy = {0};
    gni_post_descriptor_t d;

    node_open(&b, 2, 0, 0);
    OK(GNI_CdmCreate(9, PTAG + 1, COOKIE, 0, &cdm));
    OK(GNI_CdmAttach(cdm, 0, &spy.pe, &spy.nic));
    OK(GNI_CqCreate(spy.nic, 64, 0, 0, NULL, NULL, &spy.cq));
    OK(GNI_EpCreate(spy.nic, spy.cq, &spy.ep));
    OK(GNI_EpBind(spy.ep, b.pe, b.inst));
    spy.memory = shared->bytes;
    fill(shared->bytes, 64, 1);
    d = transaction(GNI_POST_FMA_PUT, &spy, &b, 64);
    expect_error(&spy, &d, 11);
    CHECK(is_zero(b.memory, MEMORY_BYTES));
}

static void versions(void)
{
    uint32_t version = 0;
    gni_version_info_t info;
    gni_nic_device_t device;

    OK(GNI_GetVersion(&version));
    CHECK_EQ(GNI_VERSION, version);
    CODE(GNI_RC_INVALID_PARAM, GNI_GetVersion(NULL));
    OK(GNI_GetVersionInformation(&info));
    CHECK_EQ(GNI_VERSION, info.ugni_version);
    OK(GNI_GetDeviceType(&device));
    CHECK_EQ(GNI_DEVICE_GEMINI, device);
}

static void devices(void)
{
    int count = 0, ids[4] = {-1, -1, -1, -1};
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    uint32_t address;

    OK(GNI_GetNumLocalDevices(&count));
    CHECK(count >= 1 && count <= 4);
    OK(GNI_GetLocalDeviceIds(4, ids));
    OK(GNI_CdmCreate(1, PTAG, COOKIE, 0, &cdm));
    for (int i = 0; i < count; i++)
        OK(GNI_CdmAttach(cdm, (uint32_t)ids[i], &address, &nic));
    OK(GNI_CdmDestroy(cdm));
}

static void ask_ptag(void)
{
    uint8_t ptag = 0;

    OK(GNI_GetPtag(0, 0x1234567, &ptag));
    shared->number[0] = ptag;
}

static void ptag_of_a_cookie(void)
{
    uint8_t ptag = 0;

    CHECK_EQ(0, join(start(ask_ptag)));
    OK(GNI_GetPtag(0, 0x1234567, &ptag));
    CHECK_EQ(shared->number[0], ptag);
    CHECK(ptag >= GNI_PTAG_USER_START && ptag <= GNI_PTAG_USER_END);
}

static void resources(void)
{
    gni_job_res_desc_t job;
    gni_dev_res_desc_t device;

    OK(GNI_GetJobResInfo(0, PTAG, GNI_JOB_RES_FMA, &job));
    CHECK_EQ(124, job.limit);
    OK(GNI_GetJobResInfo(0, PTAG, GNI_JOB_RES_CQ, &job));
    CHECK_EQ(2046, job.limit);
    CODE(GNI_RC_INVALID_PARAM, GNI_GetJobResInfo(0, PTAG, GNI_JOB_RES_LAST, &job));
    CODE(GNI_RC_INVALID_PARAM, GNI_GetJobResInfo(0, PTAG, GNI_JOB_RES_FIRST, &job));
    CODE(GNI_RC_INVALID_PARAM, GNI_GetDevResInfo(0, GNI_DEV_RES_LAST, &device));
    OK(GNI_GetDevResInfo(0, GNI_DEV_RES_MDD, &device));
    CHECK(device.total >= 4096);
}

static void use_inherited(void)
{
    gni_cq_handle_t cq;
    gni_cdm_handle_t cdm = (gni_cdm_handle_t)(uintptr_t)shared->number[0];
    gni_nic_handle_t nic = (gni_nic_handle_t)(uintptr_t)shared->number[1];
    struct node n;

    CODE(GNI_RC_INVALID_PARAM, GNI_CqCreate(nic, 8, 0, 0, NULL, NULL, &cq));
    CODE(GNI_RC_INVALID_PARAM, GNI_CdmDestroy(cdm));
    node_attach(&n, 5, COOKIE, 0); /* its own it may have */
    node_close(&n);
}

static void handles_do_not_survive_fork(void)
{
    struct node n;

    node_attach(&n, 1, COOKIE, 0);
    shared->number[0] = (uint64_t)(uintptr_t)n.cdm;
    shared->number[1] = (uint64_t)(uintptr_t)n.nic;
    CHECK_EQ(0, join(start(use_inherited)));
    node_close(&n);
}

/* Of the call before is nothing said where a call that fails has nothing to say. */
static void text_of_the_last_failure(void)
{
    struct node n;
    void *memory;
    gni_mem_handle_t handle;

    node_attach(&n, 1, COOKIE, 0);
    CHECK(GNI_ExtMemAlloc(n.nic, 1ull << 47, &memory) != GNI_RC_SUCCESS);
    CHECK(strncmp(GNI_ExtError(), "GNI_ExtMemAlloc: ", 17) == 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_ExtMemAlloc(n.nic, 0, &memory));
    CHECK_EQ('\0', GNI_ExtError()[0]);
    CHECK(GNI_ExtMemAlloc(n.nic, 1ull << 47, &memory) != GNI_RC_SUCCESS);
    CHECK(GNI_MemRegister(n.nic, 4096, 0, NULL, 0, (uint32_t)-1, &handle) != GNI_RC_SUCCESS);
    CHECK_EQ('\0', GNI_ExtError()[0]);
}

static const struct check_case cases[] = {
    {"", "text_of_the_last_failure", text_of_the_last_failure},
    {"6", "create_without_place", create_without_place},
    {"7,11", "unknown_device", unknown_device},
    {"8", "attach_twice", attach_twice},
    {"9,10", "two_domains_one_device", two_domains_one_device},
    {"", "any_device", any_device},
    {"12", "destroy_twice", destroy_twice},
    {"", "hostile_handles", hostile_handles},
    {"13", "other_cookie", other_cookie},
    {"", "other_ptag", other_ptag},
    {"107", "versions", versions},
    {"108", "devices", devices},
    {"109", "ptag_of_a_cookie", ptag_of_a_cookie},
    {"110", "resources", resources},
    {"", "handles_do_not_survive_fork", handles_do_not_survive_fork},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
