/* What the files of gni-run share among themselves. */
#ifndef GNI_RUN_H
#define GNI_RUN_H

#include <stdint.h>
#include <sys/types.h>

#define PROGRAMS_MAX 64
#define NODES_MAX 256

struct program {
    int count;
    char **arguments;
};
struct job {
    struct program program[PROGRAMS_MAX];
    int programs;
    int size;
    int nodes; /* addresses that the processes are dealt out to, in blocks */
    int is_aries;
    int wants_help;
    int stdin_rank;  /* the rank that gets our standard input; -1: none, -2: all */
    const char *ccm; /* folder for libfabric's file, or NULL */
    unsigned ptag, cookie;
    int is_own_domain; /* tag and cookie were chosen by us */
    pid_t *pid;
    int started; /* pids known so far */
    char path[256];
    char ccm_file[300], ccm_list[300]; /* "": not written */
    struct pmi_shared *shared;
};

/* NULL, or what is wrong. */
const char *run_parse(struct job *job, char **argv);
void run_usage(int is_error);

/* What the processes share, and their environment: 0 or -1, said on standard error. */
int run_share(struct job *job);
int run_domain(struct job *job);
void run_library_path(void);
/* In the process that becomes rank `rank`, of program number `appnum`. */
void run_set_rank(const struct job *job, int rank, int appnum);
/* Takes away what the job left: killed processes cannot. */
void run_clean(const struct job *job);

#endif
