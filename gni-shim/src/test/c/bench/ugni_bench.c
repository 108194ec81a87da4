/* What uGNI's calls cost beside the software NIC's own: ugni-bench [SECONDS]. Prints one JSON
 * object a line; "ratio" is the one that is promised in the text beside it. Memory that peers map.
 */
#define _GNU_SOURCE
#include "gni_ext.h"
#include "softnic.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES (32u << 20)
#define LARGE (4u << 20)
#define BATCH 1000
#define TURNS 20000u

#define OK(call)                                                                                   \
    do {                                                                                           \
        gni_return_t code_ = (call);                                                               \
        if (code_ != GNI_RC_SUCCESS) {                                                             \
            fprintf(stderr, "%s: %s (%s)\n", #call, gni_err_str[code_], GNI_ExtError());           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define FINE(call)                                                                                 \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s: %s\n", #call, why);                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct node {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq;
    gni_ep_handle_t ep;
    gni_mem_handle_t handle;
    uint8_t *memory;
    uint32_t pe;
};
struct raw {
    snic_t *nic;
    snic_peer_t *peer;
    snic_key_t key;
    uint8_t *memory;
};
static struct node node[2];
static struct raw raw[2];
static char why[SNIC_WHY_MAX];
static double seconds = 1.0;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void open_all(void)
{
    void *memory;

    for (uint32_t i = 0; i < 2; i++) {
        OK(GNI_CdmCreate(i, 9, 0x990000, 0, &node[i].cdm));
        OK(GNI_CdmAttach(node[i].cdm, 0, &node[i].pe, &node[i].nic));
        OK(GNI_CqCreate(node[i].nic, 512, 0, GNI_CQ_NOBLOCK, NULL, NULL, &node[i].cq));
        OK(GNI_EpCreate(node[i].nic, node[i].cq, &node[i].ep));
        OK(GNI_EpBind(node[i].ep, node[0].pe, 1 - i));
        OK(GNI_ExtMemAlloc(node[i].nic, BYTES, &memory));
        node[i].memory = memory;
        OK(GNI_MemRegister(node[i].nic, (uint64_t)(uintptr_t)memory, BYTES, NULL, 0, (uint32_t)-1,
                           &node[i].handle));
    }
    for (uint32_t i = 0; i < 2; i++) {
        snic_options_t options = {.directory = getenv("GNI_SHIM_DIR"),
                                  .job = "raw",
                                  .name = i ? "one" : "zero",
                                  .personality = SNIC_SHM,
                                  .area_bytes = 4096};

        FINE(snic_open(&options, &raw[i].nic, why, sizeof(why)));
        FINE(snic_publish(raw[i].nic));
        FINE(snic_memory_alloc(raw[i].nic, BYTES, 0, &memory, why, sizeof(why)));
        raw[i].memory = memory;
        FINE(snic_register(raw[i].nic, memory, BYTES, SNIC_READ | SNIC_WRITE, &raw[i].key, why,
                           sizeof(why)));
    }
    for (uint32_t i = 0; i < 2; i++)
        FINE(snic_attach(raw[i].nic, i ? "zero" : "one", 0, &raw[i].peer, why, sizeof(why)));
}

/* ---- one operation after the other ---- */

static void raw_put(uint64_t length)
{
    FINE(snic_put(raw[0].peer, &raw[1].key, 0, raw[0].memory, length));
}

static void plain_copy(uint64_t length)
{
    memcpy(raw[1].memory, raw[0].memory, length);
    __asm__ volatile("" ::: "memory");
}

static void post(gni_post_type_t type, uint64_t length)
{
    static gni_post_descriptor_t d;
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;

    d.type = type;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    d.local_addr = (uint64_t)(uintptr_t)node[0].memory;
    d.local_mem_hndl = node[0].handle;
    d.remote_addr = (uint64_t)(uintptr_t)node[1].memory;
    d.remote_mem_hndl = node[1].handle;
    d.length = length;
    d.src_cq_hndl = NULL;
    OK(type == GNI_POST_FMA_PUT ? GNI_PostFma(node[0].ep, &d) : GNI_PostRdma(node[0].ep, &d));
    OK(GNI_CqGetEvent(node[0].cq, &entry));
    OK(GNI_GetCompleted(node[0].cq, entry, &done));
}

static void fma_put(uint64_t length)
{
    post(GNI_POST_FMA_PUT, length);
}

static void bte_put(uint64_t length)
{
    post(GNI_POST_RDMA_PUT, length);
}

static void bte_get(uint64_t length)
{
    post(GNI_POST_RDMA_GET, length);
}

/* Nanoseconds for one, the better of several looks; the two forms take turns. */
static void beside(void (*first)(uint64_t), void (*second)(uint64_t), uint64_t length, double *a,
                   double *b)
{
    int batch = length > 65536 ? 4 : BATCH;

    *a = *b = 1e18;
    for (double end = now() + seconds; now() < end;) {
        double t[3] = {now(), 0, 0};

        for (int i = 0; i < batch; i++)
            first(length);
        t[1] = now();
        for (int i = 0; i < batch; i++)
            second(length);
        t[2] = now();
        *a = *a < (t[1] - t[0]) / batch * 1e9 ? *a : (t[1] - t[0]) / batch * 1e9;
        *b = *b < (t[2] - t[1]) / batch * 1e9 ? *b : (t[2] - t[1]) / batch * 1e9;
    }
}

static void tell(const char *what, const char *promised, double ugni_ns, double other_ns,
                 double ratio)
{
    printf("{\"what\": \"%s\", \"promised\": \"%s\", \"ugni_ns\": %.1f, \"other_ns\": %.1f, "
           "\"ratio\": %.3f}\n",
           what, promised, ugni_ns, other_ns, ratio);
    fflush(stdout);
}

/* ---- there and back, two threads ---- */

static void *raw_pong(void *unused)
{
    for (uint64_t i = 1; i <= TURNS; i++) {
        while (__atomic_load_n((uint64_t *)(void *)raw[1].memory, __ATOMIC_ACQUIRE) != i)
            ;
        FINE(snic_put(raw[1].peer, &raw[0].key, 0, &i, 8));
    }
    return unused;
}

static double raw_ping(void)
{
    pthread_t thread;
    double began;

    memset(raw[0].memory, 0, 64);
    memset(raw[1].memory, 0, 64);
    pthread_create(&thread, NULL, raw_pong, NULL);
    began = now();
    for (uint64_t i = 1; i <= TURNS; i++) {
        FINE(snic_put(raw[0].peer, &raw[1].key, 0, &i, 8));
        while (__atomic_load_n((uint64_t *)(void *)raw[0].memory, __ATOMIC_ACQUIRE) != i)
            ;
    }
    began = now() - began;
    pthread_join(thread, NULL);
    return began / TURNS * 1e9;
}

static void send_message(int from, uint64_t value)
{
    gni_cq_entry_t entry;
    gni_return_t code;

    while ((code = GNI_SmsgSend(node[from].ep, &value, 8, NULL, 0, 1)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    OK(GNI_CqGetEvent(node[from].cq, &entry));
}

static void take_message(int at)
{
    gni_return_t code;
    void *message;

    while ((code = GNI_SmsgGetNext(node[at].ep, &message)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    OK(GNI_SmsgRelease(node[at].ep));
}

static void *message_pong(void *unused)
{
    for (uint64_t i = 1; i <= TURNS; i++) {
        take_message(1);
        send_message(1, i);
    }
    return unused;
}

static double message_ping(void)
{
    pthread_t thread;
    double began;

    pthread_create(&thread, NULL, message_pong, NULL);
    began = now();
    for (uint64_t i = 1; i <= TURNS; i++) {
        send_message(0, i);
        take_message(0);
    }
    began = now() - began;
    pthread_join(thread, NULL);
    return began / TURNS * 1e9;
}

static void *drain(void *unused)
{
    for (uint64_t i = 0; i < 50 * TURNS; i++)
        take_message(1);
    return unused;
}

static double message_rate(void)
{
    pthread_t thread;
    double began;

    pthread_create(&thread, NULL, drain, NULL);
    began = now();
    for (uint64_t i = 0; i < 50 * TURNS; i++)
        send_message(0, i);
    pthread_join(thread, NULL);
    return 50.0 * TURNS / (now() - began);
}

static void connect_messages(void)
{
    gni_smsg_attr_t attr[2];

    memset(attr, 0, sizeof(attr));
    for (int i = 0; i < 2; i++) {
        attr[i].msg_type = GNI_SMSG_TYPE_MBOX;
        attr[i].msg_buffer = node[i].memory;
        attr[i].buff_size = BYTES;
        attr[i].mem_hndl = node[i].handle;
        attr[i].mbox_offset = 16u << 20;
        attr[i].mbox_maxcredit = 128;
        attr[i].msg_maxsize = 64;
    }
    OK(GNI_SmsgInit(node[0].ep, &attr[0], &attr[1]));
    OK(GNI_SmsgInit(node[1].ep, &attr[1], &attr[0]));
}

int main(int argc, char **argv)
{
    char directory[] = "/dev/shm/ugni-bench-XXXXXX", command[128];
    double a, b;

    if (argc > 1)
        seconds = atof(argv[1]);
    if (mkdtemp(directory) == NULL)
        return 2;
    setenv("GNI_SHIM_DIR", directory, 1);
    open_all();
    memset(node[0].memory, 1, BYTES);
    memset(node[1].memory, 1, BYTES);
    memset(raw[0].memory, 1, BYTES);
    memset(raw[1].memory, 1, BYTES);
    beside(fma_put, raw_put, 8, &a, &b);
    tell("FMA put of 8 bytes beside snic_put", "at most 1.25", a, b, a / b);
    beside(bte_put, plain_copy, LARGE, &a, &b);
    tell("BTE put of 4 MiB beside memcpy", "at least 0.90", a, b, b / a);
    beside(bte_get, plain_copy, LARGE, &a, &b);
    tell("BTE get of 4 MiB beside memcpy", "at least 0.90", a, b, b / a);
    beside(bte_get, bte_put, LARGE, &a, &b);
    tell("BTE get of 4 MiB beside BTE put", "0.95 to 1.05", a, b, a / b);
    memset(node[0].memory, 0, BYTES);
    memset(node[1].memory, 0, BYTES);
    connect_messages();
    a = message_ping();
    b = raw_ping();
    tell("SMSG ping-pong beside one of puts", "at most 2", a, b, a / b);
    a = message_rate();
    printf("{\"what\": \"SMSG messages a second\", \"promised\": \"1 million\", \"rate\": %.0f}\n",
           a);
    for (int i = 0; i < 2; i++) {
        snic_detach(raw[i].peer);
        OK(GNI_CdmDestroy(node[i].cdm));
    }
    for (int i = 0; i < 2; i++)
        snic_close(raw[i].nic);
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command) == 0 ? 0 : 1;
}
