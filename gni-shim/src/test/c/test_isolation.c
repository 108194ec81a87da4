/* Who may not reach a NIC handle does not: another protection tag or cookie, another user, a
 * process that the kernel keeps apart. */
#define _GNU_SOURCE
#include "area_check.h"
#include "mailbox.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define GONE 11 /* hardware status: nobody there */

static struct node a, b;
static uint32_t own_ptag, own_cookie;
static int mapped;

/* ---- a victim in a process of its own, and what it sees ---- */

static void publish(struct node *n)
{
    shared->number[0] = (uint64_t)(uintptr_t)n->memory;
    shared->handle[0] = n->handle;
    shared->attr[0] = mailbox_at(n, GNI_SMSG_TYPE_MBOX, 8192, 4, 128);
    set_flag(0, 1);
}

static void victim(void)
{
    gni_ep_handle_t open;
    gni_post_state_t state;
    uint8_t in[128] = {0};
    uint32_t pe, inst;

    node_open(&b, 2, 0, mapped);
    OK(GNI_EpCreate(b.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, in, 8, in, 128, 9));
    publish(&b);
    await_flag(1, 1);
    CHECK(is_zero(b.memory, MEMORY_BYTES));
    expect_empty(b.dst);
    OK(GNI_EpPostDataTestById(open, 9, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_PENDING, state);
    CHECK_EQ(0, nic_check(b.nic, (char *)shared->bytes, 1024));
}

/* The target of the other process, as its address and its handle say. */
static struct node far_node(void)
{
    struct node far = {0};

    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    far.handle = shared->handle[0];
    return far;
}

static void open_stranger(void)
{
    void *memory = NULL;

    memset(&a, 0, sizeof(a));
    a.inst = 1;
    OK(GNI_CdmCreate(1, (uint8_t)own_ptag, own_cookie, 0, &a.cdm));
    OK(GNI_CdmAttach(a.cdm, 0, &a.pe, &a.nic));
    OK(GNI_CqCreate(a.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &a.cq));
    OK(GNI_EpCreate(a.nic, a.cq, &a.ep));
    OK(GNI_ExtMemAlloc(a.nic, MEMORY_BYTES, &memory));
    a.memory = memory;
    OK(GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)memory, MEMORY_BYTES, NULL, GNI_MEM_READWRITE,
                       (uint32_t)-1, &a.handle));
    OK(GNI_EpBind(a.ep, a.pe, 2));
}

/* Everything that reaches a peer, with all knowledge of it. */
static void try_everything(unsigned status)
{
    static const gni_post_type_t type[] = {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_RDMA_PUT,
                                           GNI_POST_RDMA_GET};
    struct node far = far_node();
    gni_smsg_attr_t near = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 8192, 4, 128);
    gni_ep_handle_t datagrams;
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    gni_post_state_t state;
    uint8_t in[128];
    uint32_t pe, inst;

    memset(a.memory, 0x55, 4096);
    for (int i = 0; i < 4; i++) {
        d = transaction(type[i], &a, &far, 64);
        d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
        expect_error(&a, &d, status);
    }
    for (int i = 0; i < 4096; i++)
        CHECK_EQ(0x55, a.memory[i]);
    d = transaction(GNI_POST_AMO, &a, &far, 8);
    d.amo_cmd = GNI_FMA_ATOMIC_FADD;
    d.first_operand = 1;
    expect_error(&a, &d, status);
    d = transaction(GNI_POST_CQWRITE, &a, &far, 0);
    d.cqwrite_value = 77;
    expect_error(&a, &d, status);
    OK(GNI_SmsgInit(a.ep, &near, &shared->attr[0]));
    if (GNI_SmsgSend(a.ep, in, 64, NULL, 0, 1) == GNI_RC_SUCCESS)
        CODE(GNI_RC_TRANSACTION_ERROR, next_event(a.cq, &entry));
    OK(GNI_EpCreate(a.nic, NULL, &datagrams));
    OK(GNI_EpBind(datagrams, a.pe, 2));
    OK(GNI_EpPostData(datagrams, in, 8, in, 128));
    for (int i = 0; i < 20; i++) {
        OK(GNI_EpPostDataTest(datagrams, &state, &pe, &inst));
        CHECK_EQ(GNI_POST_PENDING, state);
        sleep_ms(2);
    }
}

static void try_as(uint32_t ptag, uint32_t cookie)
{
    pid_t pid = start(victim);

    await_flag(0, 1);
    own_ptag = ptag;
    own_cookie = cookie;
    open_stranger();
    try_everything(GONE);
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
}

static void other_tag(void)
{
    try_as(PTAG + 1, COOKIE);
}

static void other_cookie(void)
{
    mapped = 1;
    try_as(PTAG, COOKIE + 1);
}

/* ---- a segment that was put where it does not belong ---- */

static char segment_path[512];

static int remember(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    char wanted[64];

    (void)st;
    snprintf(wanted, sizeof(wanted), "%x.2", a.pe);
    if (flag == FTW_F && strcmp(path + ftw->base, wanted) == 0)
        snprintf(segment_path, sizeof(segment_path), "%s", path);
    return 0;
}

static void smuggled(int symbolic)
{
    pid_t pid = start(victim);
    char place[600];
    struct node far;
    gni_post_descriptor_t d;

    await_flag(0, 1);
    own_ptag = PTAG;
    own_cookie = COOKIE + 1;
    open_stranger();
    CHECK(nftw(getenv("GNI_SHIM_DIR"), remember, 16, FTW_PHYS) == 0 && segment_path[0]);
    snprintf(place, sizeof(place), "%s/verbena-%u/gni-%u-%08x/%x.2", getenv("GNI_SHIM_DIR"),
             (unsigned)geteuid(), PTAG, COOKIE + 1, a.pe);
    CHECK((symbolic ? symlink(segment_path, place) : link(segment_path, place)) == 0);
    far = far_node();
    d = transaction(GNI_POST_FMA_PUT, &a, &far, 64);
    memset(a.memory, 1, 64);
    CODE(GNI_RC_TRANSACTION_ERROR, post_and_wait(&a, &d));
    unlink(place);
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
}

static void linked_segment(void)
{
    smuggled(0);
}

static void symbolic_segment(void)
{
    smuggled(1);
}

/* ---- other users ---- */

static int is_private(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)path;
    if (flag == FTW_F) {
        shared->number[1]++;
        CHECK_EQ(0600, st->st_mode & 07777);
    } else if (ftw->level > 0) {
        CHECK_EQ(0700, st->st_mode & 07777);
    }
    return 0;
}

static void nobody_looks(void)
{
    CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    CHECK(open(segment_path, O_RDONLY) < 0 && errno == EACCES);
    own_ptag = PTAG;
    own_cookie = COOKIE;
    open_stranger();
    try_everything(GONE);
}

static void other_user(void)
{
    pid_t pid = start(victim);

    await_flag(0, 1);
    a.pe = 0;
    OK(GNI_CdmGetNicAddress(0, &a.pe, NULL));
    CHECK(nftw(getenv("GNI_SHIM_DIR"), remember, 16, FTW_PHYS) == 0 && segment_path[0]);
    CHECK(nftw(getenv("GNI_SHIM_DIR"), is_private, 16, FTW_PHYS) == 0);
    CHECK(shared->number[1] >= 2); /* the segment, a queue's memory */
    if (geteuid() != 0) {
        set_flag(1, 1);
        check_skip("not root: no other user to try it as");
    }
    CHECK(chmod(getenv("GNI_SHIM_DIR"), 0777) == 0);
    CHECK_EQ(0, join(start(nobody_looks)));
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
}

/* ---- processes that the kernel keeps apart ---- */

static void forbid_cross_memory_attach(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        check_skip("no seccomp filter here: %s", strerror(errno));
}

static void forbidden(void)
{
    static uint8_t bytes[8192];
    gni_mem_handle_t handle;
    gni_post_descriptor_t d;

    forbid_cross_memory_attach();
    pair_open(&a, &b, 0, 1);
    CODE(GNI_RC_PERMISSION_ERROR, GNI_MemRegister(a.nic, (uint64_t)(uintptr_t)bytes, sizeof(bytes),
                                                  NULL, GNI_MEM_READWRITE, (uint32_t)-1, &handle));
    CHECK(strstr(GNI_ExtError(), "seccomp") != NULL);
    d = transaction(GNI_POST_RDMA_PUT, &a, &b, 4096); /* mapped memory needs no such call */
    fill(a.memory, 4096, 1);
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(b.memory, 4096, 1));
}

static void target_of_all(void)
{
    gni_smsg_attr_t far;
    gni_cq_entry_t entry;
    void *message;

    node_open(&b, 2, 0, mapped);
    OK(GNI_EpBind(b.ep, b.pe, 1));
    publish(&b);
    await_flag(2, 1);
    far = shared->attr[1];
    OK(GNI_SmsgInit(b.ep, &shared->attr[0], &far));
    set_flag(3, 1);
    await_flag(1, 1);
    CHECK(is_filled(b.memory + 65536, 1 << 20, 3));
    CHECK_EQ(5, *(uint64_t *)(void *)(b.memory + 64));
    OK(next_event(b.dst, &entry));
    OK(GNI_SmsgGetNext(b.ep, &message));
    CHECK(is_filled(message, 128, 4));
    OK(GNI_SmsgRelease(b.ep));
}

/* Puts, gets, atomics, a message, remote events: all of them as ever. */
static void everything_works(void)
{
    struct node far;
    gni_smsg_attr_t near;
    gni_post_descriptor_t d;

    node_open(&a, 1, 0, mapped);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    near = shared->attr[1] = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 8192, 4, 128);
    set_flag(2, 1);
    await_flag(3, 1);
    far = far_node();
    d = transaction(GNI_POST_RDMA_PUT, &a, &far, 1 << 20);
    d.remote_addr += 65536;
    d.local_addr += 65536;
    d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    fill(a.memory + 65536, 1 << 20, 3);
    OK(post_and_wait(&a, &d));
    memset(a.memory + 65536, 0, 1 << 20);
    d.type = GNI_POST_RDMA_GET;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(a.memory + 65536, 1 << 20, 3));
    d = transaction(GNI_POST_AMO, &a, &far, 8);
    d.remote_addr += 64;
    d.amo_cmd = GNI_FMA_ATOMIC_ADD;
    d.first_operand = 5;
    OK(post_and_wait(&a, &d));
    OK(GNI_SmsgInit(a.ep, &near, &shared->attr[0]));
    fill(a.memory + 4096, 128, 4);
    OK(GNI_SmsgSend(a.ep, a.memory + 4096, 128, NULL, 0, 1));
    set_flag(1, 1);
}

static void bouncing(void)
{
    pid_t pid;

    setenv("GNI_SHIM_FOREIGN", "bounce", 1);
    forbid_cross_memory_attach();
    pid = start(target_of_all);
    await_flag(0, 1);
    everything_works();
    CHECK_EQ(0, join(pid));
}

/* A target that nobody may trace: memory that is not mapped is refused, by an event. */
static void undumpable_target(void)
{
    if (geteuid() == 0)
        CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    node_open(&b, 2, 0, mapped);
    publish(&b);
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
    set_flag(2, 1);
    await_flag(1, 1);
    CHECK(mapped ? is_filled(b.memory, 4096, 6) : is_zero(b.memory, 4096));
}

static void puts_to_undumpable(void)
{
    struct node far;
    gni_post_descriptor_t d;

    if (geteuid() == 0)
        CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    node_open(&a, 1, 0, 1);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    far = far_node();
    fill(a.memory, 4096, 6);
    d = transaction(GNI_POST_RDMA_PUT, &a, &far, 4096);
    CODE(mapped ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR, post_and_wait(&a, &d));
    d.type = GNI_POST_FMA_GET;
    CODE(mapped ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR, post_and_wait(&a, &d));
    CHECK(is_filled(a.memory, 4096, 6));
}

static void not_to_be_traced(void)
{
    for (mapped = 0; mapped < 2; mapped++) {
        pid_t pid;

        CHECK(geteuid() != 0 || chmod(getenv("GNI_SHIM_DIR"), 0777) == 0);
        for (int i = 0; i < 3; i++)
            set_flag(i, 0);
        pid = start(undumpable_target);
        await_flag(2, 1);
        CHECK_EQ(0, join(start(puts_to_undumpable)));
        set_flag(1, 1);
        CHECK_EQ(0, join(pid));
    }
}

/* From another pid namespace nobody could tell whether the target lives: refused, and said. */
static void looks_from_another_namespace(void)
{
    own_ptag = PTAG;
    own_cookie = COOKIE;
    open_stranger();
    try_everything(GONE);
    CHECK(strstr(GNI_ExtError(), "namespace") != NULL);
}

static void in_another_namespace(void)
{
    CHECK_EQ(0, join(start(looks_from_another_namespace)));
}

static void unshares(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        _exit(3);
    in_another_namespace();
    _exit(0);
}

static void other_namespace(void)
{
    pid_t pid = start(victim), probe = fork();
    int state;

    if (probe == 0)
        _exit(unshare(CLONE_NEWPID) != 0);
    CHECK(waitpid(probe, &state, 0) == probe);
    await_flag(0, 1);
    if (state != 0) {
        set_flag(1, 1);
        check_skip("no pid namespace of our own here");
    }
    CHECK_EQ(0, join(start(unshares)));
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
}

static const struct check_case cases[] = {
    {"", "other_tag", other_tag},
    {"", "other_cookie", other_cookie},
    {"", "linked_segment", linked_segment},
    {"", "symbolic_segment", symbolic_segment},
    {"", "other_user", other_user},
    {"", "forbidden", forbidden},
    {"", "bouncing", bouncing},
    {"", "not_to_be_traced", not_to_be_traced},
    {"", "other_namespace", other_namespace},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
