/* The TCP sockets of a provider, to sleep at. libfabric does not tell which they are: their
 * addresses do, among all descriptors of the process. */
#include "ofi_library.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define EVENTS 64

union address {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
    uint8_t bytes[VFI_SOCKET_NAME_BYTES];
};
_Static_assert(sizeof(union address) == VFI_SOCKET_NAME_BYTES, "union address");

static int is_same(const union address *a, const union address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return 0;
    if (a->any.sa_family == AF_INET)
        return a->ip4.sin_port == b->ip4.sin_port &&
               a->ip4.sin_addr.s_addr == b->ip4.sin_addr.s_addr;
    return a->any.sa_family == AF_INET6 && a->ip6.sin6_port == b->ip6.sin6_port &&
           memcmp(&a->ip6.sin6_addr, &b->ip6.sin6_addr, sizeof(a->ip6.sin6_addr)) == 0;
}

/* At the address of the first name, or connected to that of another. */
static int is_of_provider(int descriptor, const union address *names, uint32_t count)
{
    union address at;
    socklen_t size = sizeof(at);

    if (getsockname(descriptor, &at.any, &size) < 0)
        return 0;
    if (is_same(&at, &names[0]))
        return 1;
    size = sizeof(at);
    if (getpeername(descriptor, &at.any, &size) < 0)
        return 0;
    for (uint32_t i = 1; i < count; i++)
        if (is_same(&at, &names[i]))
            return 1;
    return 0;
}

int32_t vfi_sockets(void)
{
    int set = epoll_create1(EPOLL_CLOEXEC);

    return set < 0 ? -errno : set;
}

int32_t vfi_sockets_find(int32_t set, uint64_t names, uint32_t count)
{
    DIR *descriptors = opendir("/proc/self/fd");
    struct dirent *entry;
    int32_t found = 0;

    if (descriptors == NULL)
        return -errno;
    while ((entry = readdir(descriptors)) != NULL) {
        /* Edges: a socket that another endpoint of this process leaves unread does not wake us
         * again and again. */
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
        int descriptor = atoi(entry->d_name);

        if (entry->d_name[0] == '.' || !is_of_provider(descriptor, AT(union address, names), count))
            continue;
        if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) == 0 || errno == EEXIST)
            found++;
    }
    closedir(descriptors);
    return found;
}

int32_t vfi_sockets_rest(int32_t set)
{
    struct epoll_event events[EVENTS];
    int rest = 1, count;

    while ((count = epoll_wait(set, events, EVENTS, 0)) > 0)
        rest = 0;
    return rest;
}
