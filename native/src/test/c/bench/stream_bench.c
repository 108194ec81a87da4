/*
 * stream-bench: how fast bytes go from one process through a second one and TCP over loopback to a
 * third, in plain C with blocking calls.
 *
 *   stream-bench [--get] [--sum] [--joined] [--overlap] [--zerocopy | --splice] [--bytes N]
 *
 *   --get       the bytes are another process's: each is copied once, in pieces of 256 KiB, into
 * one of three buffers of 4 MiB, as a DART server's gets do
 *   --sum       a CRC-32C on both sides, in pieces of 256 KiB where a piece was just copied or read
 *   --joined    the sender copies and sums in one loop
 *   --overlap   a second thread copies and sums the next message while one is sent
 *   --zerocopy  MSG_ZEROCOPY; a buffer is used again when the kernel has reported it
 *   --splice    vmsplice and splice; nothing reports when a buffer may be used again, so this is a
 *               measurement only
 *   --bytes N   to be measured, after as many to warm up; 4,000,000,000
 *
 * Without options it is plain TCP. Writes of 64 KiB, 256 KiB and 1 MiB are tried, and the best is
 * told: one line {"get":0|1,"sum":0|1,"write":BYTES,"value":GB/s}. The sum is that of four lanes,
 * as fast as the processor's instruction allows; nobody compares it with anything.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#endif

#define MESSAGE ((size_t)4 << 20)
#define BUFFERS 3
#define PIECE ((size_t)256 << 10)
#define LANES 4

static int wants_get, wants_sum, wants_joined, wants_overlap, wants_zerocopy, wants_splice;
static volatile uint64_t sink;

static void die(const char *what)
{
    fprintf(stderr, "stream-bench: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#if defined(__x86_64__)
#define WITH_CRC __attribute__((target("sse4.2")))
#define CRC_OF(crc, word) _mm_crc32_u64(crc, word)
#elif defined(__aarch64__)
#define WITH_CRC __attribute__((target("+crc")))
#define CRC_OF(crc, word) __crc32cd((uint32_t)(crc), word)
#else
#error "no CRC-32C instruction is known for this processor"
#endif

WITH_CRC static void sum(const uint8_t *at, size_t length)
{
    uint64_t crc[LANES] = {0}, word;
    size_t lane = length / LANES & ~(size_t)7;
    for (size_t i = 0; i < lane; i += 8)
        for (int k = 0; k < LANES; k++) {
            memcpy(&word, at + (size_t)k * lane + i, 8);
            crc[k] = CRC_OF(crc[k], word);
        }
    for (int k = 0; k < LANES; k++)
        sink += crc[k];
}

/* As memcpy and sum, with one load of each word. */
WITH_CRC static void copy_and_sum(uint8_t *to, const uint8_t *from, size_t length)
{
    uint64_t crc[LANES] = {0}, word;
    size_t lane = length / LANES & ~(size_t)7;
    for (size_t i = 0; i < lane; i += 8)
        for (int k = 0; k < LANES; k++) {
            memcpy(&word, from + (size_t)k * lane + i, 8);
            memcpy(to + (size_t)k * lane + i, &word, 8);
            crc[k] = CRC_OF(crc[k], word);
        }
    for (int k = 0; k < LANES; k++)
        sink += crc[k];
}

/* Reads until the end into a message's memory; each piece is summed up when it is there. */
static void receive(int listener)
{
    int in = accept(listener, NULL, NULL);
    uint8_t *message = aligned_alloc(4096, MESSAGE);
    size_t at = 0;
    ssize_t n;
    if (in < 0 || !message)
        die("accept");
    memset(message, 0, MESSAGE);
    while ((n = read(in, message + at, MESSAGE - at < PIECE ? MESSAGE - at : PIECE)) > 0) {
        if (wants_sum)
            sum(message + at, (size_t)n);
        at = (at + (size_t)n) % MESSAGE;
    }
    if (n < 0)
        die("read");
    free(message);
    close(in);
}

static int pipe_ends[2];

/* Pages go through a pipe to the socket: fewer at once than the pipe takes. */
static ssize_t splice_some(int out, const uint8_t *at, size_t length)
{
    struct iovec pages = {(void *)(uintptr_t)at, length};
    ssize_t taken = vmsplice(pipe_ends[1], &pages, 1, 0);
    for (ssize_t left = taken; left > 0;) {
        ssize_t n = splice(pipe_ends[0], NULL, out, NULL, (size_t)left, SPLICE_F_MOVE);
        if (n <= 0)
            die("splice");
        left -= n;
    }
    return taken;
}

static uint64_t sends, sends_reported, sends_copied;

/* Takes the reports of MSG_ZEROCOPY, until there are as many as asked for. */
static void await_reports(int out, uint64_t wanted)
{
    while (sends_reported < wanted) {
        union {
            struct cmsghdr head;
            char bytes[256];
        } control;
        struct msghdr m = {.msg_control = &control, .msg_controllen = sizeof control};
        struct pollfd p = {.fd = out};
        if (recvmsg(out, &m, MSG_ERRQUEUE) < 0) {
            if (errno != EAGAIN || poll(&p, 1, -1) < 0)
                die("MSG_ERRQUEUE");
            continue;
        }
        struct sock_extended_err report;
        memcpy(&report, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof report);
        sends_reported += report.ee_data - report.ee_info + 1;
        if (report.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
            sends_copied += report.ee_data - report.ee_info + 1;
    }
}

static void write_all(int out, const uint8_t *at, size_t length)
{
    while (length > 0) {
        ssize_t n = wants_splice     ? splice_some(out, at, length)
                    : wants_zerocopy ? send(out, at, length, MSG_ZEROCOPY)
                                     : write(out, at, length);
        if (n < 0)
            die("write");
        sends++;
        at += n;
        length -= (size_t)n;
    }
}

static void pull(uint8_t *to, const uint8_t *from)
{
    for (size_t i = 0; i < MESSAGE; i += PIECE) {
        if (wants_joined) {
            copy_and_sum(to + i, from + i, PIECE);
            continue;
        }
        if (wants_get)
            memcpy(to + i, from + i, PIECE);
        if (wants_sum)
            sum(to + i, PIECE);
    }
}

/* Messages that are in their buffers, and that are sent, for --overlap. */
static _Atomic uint64_t pulled, sent;

struct pulls {
    uint8_t *buffers;
    const uint8_t *source;
    uint64_t messages;
};

static void await_more_than(_Atomic uint64_t *count, uint64_t least)
{
    while (atomic_load_explicit(count, memory_order_acquire) <= least)
        sched_yield();
}

static void *pull_ahead(void *of)
{
    const struct pulls *p = of;
    for (uint64_t i = 0; i < p->messages; i++) {
        if (i >= BUFFERS)
            await_more_than(&sent, i - BUFFERS);
        pull(p->buffers + i % BUFFERS * MESSAGE, p->source + i % 2 * MESSAGE);
        atomic_store_explicit(&pulled, i + 1, memory_order_release);
    }
    return NULL;
}

static double rate(const uint8_t *source, size_t length, uint64_t bytes)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (bind(listener, (struct sockaddr *)&a, size) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&a, &size))
        die("listen");
    pid_t reader = fork();
    if (reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(out);
        receive(listener);
        _exit(0);
    }
    if (connect(out, (struct sockaddr *)&a, size))
        die("connect");
    setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (wants_zerocopy && setsockopt(out, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof one))
        die("SO_ZEROCOPY");
    if (wants_splice && (pipe(pipe_ends) || fcntl(pipe_ends[1], F_SETPIPE_SZ, 1 << 20) < 0))
        die("pipe");
    sends = sends_reported = sends_copied = 0;
    pulled = 0;
    sent = 0;
    uint8_t *buffers = aligned_alloc(4096, BUFFERS * MESSAGE);
    memset(buffers, 1, BUFFERS * MESSAGE);
    uint64_t messages = bytes / MESSAGE, sends_of[BUFFERS] = {0};
    struct pulls ahead = {buffers, source, 2 * messages};
    pthread_t thread;
    if (wants_overlap && pthread_create(&thread, NULL, pull_ahead, &ahead))
        die("pthread_create");
    double begin = 0;
    for (uint64_t i = 0; i < 2 * messages; i++) {
        uint8_t *buffer = buffers + i % BUFFERS * MESSAGE;
        if (i == messages)
            begin = seconds();
        if (wants_overlap)
            await_more_than(&pulled, i);
        else
            pull(buffer, source + i % 2 * MESSAGE);
        for (size_t at = 0; at < MESSAGE; at += length)
            write_all(out, buffer + at, length);
        sends_of[i % BUFFERS] = sends;
        /* The next message's buffer, that of the last but two, must be free. */
        if (wants_zerocopy)
            await_reports(out, sends_of[(i + 1) % BUFFERS]);
        uint64_t reusable = !wants_zerocopy ? i + 1 : i > 1 ? i - 1 : 0;
        atomic_store_explicit(&sent, reusable, memory_order_release);
    }
    if (wants_overlap)
        pthread_join(thread, NULL);
    if (wants_splice) {
        close(pipe_ends[0]);
        close(pipe_ends[1]);
    }
    shutdown(out, SHUT_WR);
    int status;
    waitpid(reader, &status, 0);
    double end = seconds();
    if (status != 0)
        die("the receiver failed");
    free(buffers);
    close(out);
    close(listener);
    return (double)messages * (double)MESSAGE / 1e9 / (end - begin);
}

static const struct option {
    const char *name;
    int *flag;
} options[] = {{"--get", &wants_get},           {"--sum", &wants_sum},
               {"--joined", &wants_joined},     {"--overlap", &wants_overlap},
               {"--zerocopy", &wants_zerocopy}, {"--splice", &wants_splice}};

static int *flag_of(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0)
            return options[i].flag;
    return NULL;
}

static void refuse(const char *why)
{
    fprintf(stderr,
            "stream-bench: %s; usage: stream-bench [--get] [--sum] [--joined] [--overlap]"
            " [--zerocopy | --splice] [--bytes N]\n",
            why);
    exit(2);
}

/* Answers the bytes to be measured. */
static uint64_t read_options(int argc, char **argv)
{
    uint64_t bytes = 4000000000u;
    for (int i = 1; i < argc; i++) {
        int *flag = flag_of(argv[i]);
        if (flag)
            *flag = 1;
        else if (strcmp(argv[i], "--bytes") == 0 && i + 1 < argc)
            bytes = strtoull(argv[++i], NULL, 10);
        else
            refuse("no such option, or its number is missing");
    }
    if (wants_zerocopy && wants_splice)
        refuse("--zerocopy and --splice exclude each other");
    if (wants_joined && !(wants_get && wants_sum))
        refuse("--joined needs --get and --sum");
    if (bytes < MESSAGE)
        refuse("--bytes is at least one message of 4 MiB");
    return bytes;
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {64 << 10, 256 << 10, 1 << 20};
    uint64_t bytes = read_options(argc, argv);
    /* Two processes' messages: written by another process, mapped here. */
    uint8_t *source =
        mmap(NULL, 2 * MESSAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (source == MAP_FAILED)
        die("mmap");
    pid_t writer = fork();
    if (writer == 0) {
        memset(source, 2, 2 * MESSAGE);
        _exit(0);
    }
    waitpid(writer, NULL, 0);
    double best = 0;
    size_t with = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        double r = rate(source, lengths[i], bytes);
        if (r > best) {
            best = r;
            with = lengths[i];
        }
    }
    printf("{\"get\":%d,\"sum\":%d,\"write\":%zu,\"value\":%.4f}\n", wants_get, wants_sum, with,
           best);
    if (wants_zerocopy)
        fprintf(stderr, "copied by the kernel nevertheless: %llu of %llu sends\n",
                (unsigned long long)sends_copied, (unsigned long long)sends_reported);
    return 0;
}
