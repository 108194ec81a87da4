/* Processes, time, futexes. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* An emulator of user programs makes up what a process reads of itself, and the start time that it
 * makes up is not the one that others see: builds for it give another name of the same folder. */
#ifndef SNIC_PROC
#define SNIC_PROC "/proc"
#endif

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

void snic_why(char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;
    if (!why || why_size == 0)
        return;
    va_start(arguments, format);
    vsnprintf(why, why_size, format, arguments);
    va_end(arguments);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t snic_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t snic_coarse_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC_COARSE);
}

uint32_t snic_setting(const char *variable, uint32_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return otherwise;
    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    return errno != 0 || *end || value > UINT32_MAX ? otherwise : (uint32_t)value;
}

uint64_t snic_random64(void)
{
    uint64_t value = 0;
    while (value == 0) {
        if (getrandom(&value, sizeof value, 0) == (ssize_t)sizeof value)
            continue;
        /* No entropy call here (old seccomp profile): time and address space still differ. */
        value = snic_now_ns() * 0x9e3779b97f4a7c15ull ^ (uint64_t)(uintptr_t)&value ^
                ((uint64_t)getpid() << 40);
    }
    return value;
}

int snic_process_stat(uint32_t pid, char *state, uint64_t *start_time)
{
    char text[1024];
    snprintf(text, sizeof text, SNIC_PROC "/%u/stat", pid);
    int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ESRCH ? -ESRCH : -errno;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -ESRCH;
    text[n] = 0;
    /* The command's name may hold anything, also brackets: fields start after the last one. */
    char *p = strrchr(text, ')');
    if (!p || p[1] != ' ' || !p[2])
        return -ESRCH;
    *state = p[2];
    p += 2;
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (!p)
            return -ESRCH;
        p++;
    }
    *start_time = strtoull(p, NULL, 10);
    return 0;
}

int snic_process_self(uint32_t *pid, uint64_t *start_time, uint64_t *pid_namespace)
{
    struct stat st;
    char state;
    *pid = (uint32_t)getpid();
    if (stat("/proc/self/ns/pid", &st) != 0 || snic_process_stat(*pid, &state, start_time) != 0)
        return -ENOSYS;
    *pid_namespace = st.st_ino;
    return 0;
}

int snic_process_pidfd(uint32_t pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

int snic_pidfd_dead(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, 0) == 1 && (p.revents & (POLLIN | POLLHUP));
}

int snic_process_liveness(uint32_t pid, uint64_t start_time)
{
    char state = 0;
    uint64_t started = 0;
    if (pid == 0 || pid > 0x7fffffffu)
        return SNIC_DEAD;
    /* A leader that shows as zombie may still have running threads; only the pidfd knows. */
    int pidfd = snic_process_pidfd(pid);
    if (pidfd < 0 && errno == ESRCH)
        return SNIC_DEAD;
    int dead = pidfd >= 0 && snic_pidfd_dead(pidfd);
    int found = snic_process_stat(pid, &state, &started);
    if (pidfd >= 0)
        close(pidfd);
    else if (found == 0 && (state == 'Z' || state == 'X'))
        return SNIC_DEAD;
    if (!dead && found != 0 && found != -ESRCH)
        return SNIC_ALIVE; /* no descriptor to look with, or no right to: unsure is not dead */
    if (dead || found != 0 || (start_time != 0 && started != start_time))
        return SNIC_DEAD;
    return state == 'T' || state == 't' ? SNIC_STOPPED : SNIC_ALIVE;
}

void snic_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void snic_sleep_us(uint32_t us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

int snic_futex_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    struct timespec t = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    /* Not FUTEX_PRIVATE: waker and sleeper are different processes. */
    long rc = syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout_ns < 0 ? NULL : &t, NULL, 0);
    return rc == 0 ? 0 : -errno;
}

void snic_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}
