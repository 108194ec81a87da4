/* Anonymous and file mappings for OffHeapMemory. */
#define _GNU_SOURCE
#include "native_access.h"
#include "softnic.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* As MAP_HUGE_2MB in <linux/mman.h>. */
#define HUGE_2MIB (21 << 26)

int vna_map(uint64_t length, int pages, void **address)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (pages == VNA_PAGES_HUGE)
        /* Reserved, or ENOMEM here and now. Of 2 MiB, which need not be the usual size: with pages
         * of 64 KiB that is 512 MiB, and unmapping takes whole ones only. */
        flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | HUGE_2MIB;
    void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped == MAP_FAILED)
        return -errno;
    if (pages == VNA_PAGES_TRANSPARENT)
        (void)madvise(mapped, length, MADV_HUGEPAGE); /* a wish: a kernel without it says EINVAL */
    *address = mapped;
    return 0;
}

/* Where stores reach the file, at an address that huge pages of it can have. */
static int map_shared(int file, uint64_t offset, uint64_t length, void **address)
{
    int is_huge = length >= SNIC_HUGE_PAGE && offset % SNIC_HUGE_PAGE == 0;
    uint8_t *base = NULL;
    int result = snic_map_shared(file, offset, length, is_huge ? SNIC_HUGE_PAGE : 0, &base);
    *address = base;
    return result;
}

/* Not for writing: private, so that a stray store stays here instead of killing the process. */
static int map_private(int file, uint64_t offset, uint64_t length, void **address)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        return -errno;
    if ((uint64_t)status.st_size < offset || (uint64_t)status.st_size - offset < length)
        return -ERANGE;
    *address = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, (off_t)offset);
    return *address == MAP_FAILED ? -errno : 0;
}

int vna_map_file(const char *path, uint64_t offset, uint64_t length, int write, void **address)
{
    struct stat status;
    int file = open(path, (write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    int result = fstat(file, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
    if (result == 0 && write)
        /* Space is reserved, so that a store cannot find the disk full (SIGBUS). */
        result = snic_file_fill(file, offset, length);
    if (result == 0)
        result = write ? map_shared(file, offset, length, address)
                       : map_private(file, offset, length, address);
    close(file);
    return result;
}

int vna_unmap(void *address, uint64_t length)
{
    return munmap(address, length) < 0 ? -errno : 0;
}
