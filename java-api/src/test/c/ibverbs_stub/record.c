/* What was called, and what is to be answered: read and written by the tests in Java. */

#define REQUESTS 16
#define SEGMENTS 4
#define RECEIVES 512
#define PATHS 4
#define EXPORT __attribute__((visibility("default")))

/* Java knows these offsets: VerbsStub. */
struct record {
    uint64_t calls;                 /* 0 */
    char call[32];                  /* 8 */
    uint64_t arg[8];                /* 40 */
    uint8_t bytes[1024];            /* 104 */
    char fail_call[32];             /* 1128 */
    int32_t fail_errno;             /* 1160 */
    int32_t post_bad;               /* 1164: this request of a chain is refused; -1: none */
    int32_t post_errno;             /* 1168 */
    int32_t completions;            /* 1172: what the next poll answers */
    int32_t posted;                 /* 1176: requests of the last post */
    int32_t open_objects;           /* 1180 */
    int32_t event;                  /* 1184: type of the next asynchronous event; -1: none */
    int32_t channel_events;         /* 1188 */
    struct ibv_wc wc[REQUESTS];     /* 1192 */
    uint8_t request[REQUESTS][256]; /* each: struct ibv_send_wr or ibv_recv_wr */
    struct ibv_sge segment[REQUESTS][SEGMENTS];
    char builder[512];      /* 7080: the ibv_wr_* calls */
    uint64_t shared_only;   /* 7592: the completions are for the queue that shared receives have */
    uint64_t receive_count; /* 7600 */
    uint64_t receive[RECEIVES];     /* 7608: ids of shared receives, number n at n % RECEIVES */
    uint64_t path_count;            /* 11704 */
    struct ibv_ah_attr path[PATHS]; /* 11712: peers of queue pairs, number n at n % PATHS */
};

static struct record record = {.post_bad = -1, .event = -1};
static struct ibv_cq *last_cq;
static struct ibv_cq *shared_cq;
static struct ibv_qp *last_qp;
static struct ibv_wq *last_wq;
static int next_number = 17;

/* True, with errno, if this call is to fail. */
static int enter(const char *call)
{
    record.calls++;
    memset(record.call, 0, sizeof record.call);
    strncpy(record.call, call, sizeof record.call - 1);
    if (record.fail_errno && !strcmp(record.fail_call, call)) {
        errno = record.fail_errno;
        record.fail_errno = 0;
        return 1;
    }
    return 0;
}

static void keep(const void *bytes, size_t length)
{
    memcpy(record.bytes, bytes, length < sizeof record.bytes ? length : sizeof record.bytes);
}

static void args(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    uint64_t all[] = {a, b, c, d, e};
    memcpy(record.arg, all, sizeof all);
}

static void *object(size_t size)
{
    record.open_objects++;
    return calloc(1, size);
}

static int destroy(const char *call, void *made)
{
    if (enter(call))
        return errno;
    record.open_objects--;
    free(made);
    return 0;
}
