/* Runs a program under a system-call filter like those of container engines: what is not allowed
 * there fails. Usage: container-filter PROGRAM ARGUMENT... */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Refused with EPERM without a capability by the profiles that engines ship, or by older ones of
 * them. Cross-memory attach and pidfd_open are allowed by newer ones. */
static const unsigned refused[] = {
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_perf_event_open,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_mount,
    SYS_umount2,
    SYS_unshare,
    SYS_setns,
    SYS_pivot_root,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_mbind,
    SYS_set_mempolicy,
    SYS_get_mempolicy,
    SYS_move_pages,
    SYS_io_uring_setup,
    SYS_open_by_handle_at,
    SYS_quotactl,
};

#define COUNT (sizeof refused / sizeof refused[0])

int main(int argc, char **argv)
{
    struct sock_filter code[COUNT + 4];
    unsigned n = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: container-filter PROGRAM ARGUMENT...\n");
        return 2;
    }
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < COUNT;
         i++, n++) /* a hit jumps over the rest, to the last instruction */
        code[n] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], COUNT - i, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        fprintf(stderr, "container-filter: cannot set the filter: %s\n", strerror(errno));
        return 3;
    }
    execvp(argv[1], argv + 1);
    fprintf(stderr, "container-filter: %s: %s\n", argv[1], strerror(errno));
    return 127;
}
