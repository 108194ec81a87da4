/* Is memory mapped, and may it be written? Asked when it is registered: a NIC pins pages then, and
 * finds out; a transfer that finds out later is another process's error event. */
#define _GNU_SOURCE
#include "gni_library.h"
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#define LINE_BYTES                                                                                 \
    8192 /* a path may be 4,096 bytes long, and have some of them written as four                  \
          */

/* Since Linux 6.11: one mapping, asked for by address. The kernel's numbers and layout. */
struct query {
    uint64_t size, flags, address, start, end, rights, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define QUERY _IOWR('f', 17, struct query)
#define READABLE 1u
#define WRITABLE 2u

static int judge(uint64_t rights, int writes)
{
    return (rights & READABLE) && (!writes || (rights & WRITABLE)) ? 0 : -EACCES;
}

/* -ENOTTY: an older kernel. */
static int ask(int fd, uint64_t address, uint64_t end, int writes)
{
    while (address < end) {
        struct query q = {.size = sizeof(q), .address = address};
        int error;

        if (ioctl(fd, QUERY, &q) != 0)
            return errno == ENOENT ? -EFAULT : -ENOTTY;
        error = judge(q.rights, writes);
        if (error != 0)
            return error;
        if (q.end <= address)
            return -ENOTTY;
        address = q.end;
    }
    return 0;
}

/* "start-end rwxp ...": moves *address behind it if it lies there. 1 go on, 0 enough, or -errno. */
static int take_line(const char *line, uint64_t *address, uint64_t end, int writes)
{
    char *at;
    uint64_t lo = strtoull(line, &at, 16), hi = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    uint64_t rights = 0;
    int error;

    if (*at != ' ' || hi <= *address)
        return 1;
    if (lo > *address)
        return -EFAULT;
    rights = (at[1] == 'r' ? READABLE : 0u) | (at[1] && at[2] == 'w' ? WRITABLE : 0u);
    error = judge(rights, writes);
    *address = hi;
    return error != 0 ? error : hi < end;
}

static int read_all(FILE *maps, uint64_t address, uint64_t end, int writes)
{
    char line[LINE_BYTES];

    __fpurge(maps); /* or it is content with going back in what it read the last time */
    rewind(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        int code = take_line(line, &address, end, writes);

        if (code <= 0)
            return code;
    }
    return -EFAULT;
}

int gni_maps_check(struct gni_nic *nic, uint64_t address, uint64_t length, int writes)
{
    /* 0: do not ask; 1: ask; 2: as if the kernel were older. Else where it costs little. */
    uint32_t wanted = snic_setting("GNI_SHIM_CHECK_MAPS", 3);
    int error;

    if (wanted == 0)
        return 0;
    if (nic->maps == NULL) /* kept: opening it costs more than asking */
        nic->maps = fopen("/proc/self/maps", "re");
    if (nic->maps == NULL)
        return 0;
    error = wanted == 2 ? -ENOTTY : ask(fileno(nic->maps), address, address + length, writes);
    if (error == -ENOTTY)
        error = wanted == 3 ? 0 : read_all(nic->maps, address, address + length, writes);
    return error;
}
