/* PMI for programs that gni-run starts: version 1 and what Cray's added to it. */
#ifndef VERBENA_PMI_H
#define VERBENA_PMI_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#ifndef PMI_BOOL
typedef int PMI_BOOL;
#endif
#define PMI_TRUE 1
#define PMI_FALSE 0

#define PMI_SUCCESS 0
#define PMI_FAIL (-1)
#define PMI_ERR_INIT 1
#define PMI_ERR_NOMEM 2
#define PMI_ERR_INVALID_ARG 3
#define PMI_ERR_INVALID_KEY 4
#define PMI_ERR_INVALID_KEY_LENGTH 5
#define PMI_ERR_INVALID_VAL 6
#define PMI_ERR_INVALID_VAL_LENGTH 7
#define PMI_ERR_INVALID_LENGTH 8
#define PMI_ERR_INVALID_SIZE 15

/* A program that nobody launched is rank 0 of 1. */
int PMI_Init(int *spawned);
int PMI_Initialized(PMI_BOOL *initialized);
int PMI_Finalize(void);
int PMI_Get_size(int *size);
int PMI_Get_rank(int *rank);
int PMI_Get_universe_size(int *size);
/* Which program of an MPMD start this is, from 0. */
int PMI_Get_appnum(int *appnum);
int PMI_Barrier(void);
/* Ends the whole job with this exit code. */
int PMI_Abort(int exit_code, const char error_msg[]);

/* Processes of the same node: of the same host, or of the same part of it (gni-run --nodes). */
int PMI_Get_clique_size(int *size);
int PMI_Get_clique_ranks(int ranks[], int length);

/* Cray's. PMI_Allgather gathers `len` bytes of each process into `out`, in the order of the ranks
 * here; programs must not count on that order. */
int PMI_Allgather(void *in, void *out, int len);
/* `len` bytes of rank 0 become everybody's. */
int PMI_Bcast(void *buf, int len);
int PMI_Get_numpes_on_smp(int *num);
int PMI_Get_pes_on_smp(int pes[], int length);
/* Processes of the program of this one; the others belong to other programs of the start. */
int PMI_Get_app_size(int *size);
/* Nodes are numbered from 1. The list has one number for each rank, and stays the library's. */
int PMI_Get_nid(int rank, int *nid);
int PMI_Get_nidlist_ptr(void **nidlist);

/* The key-value space; a value can be read once its writer has committed it. */
int PMI_KVS_Get_my_name(char kvsname[], int length);
int PMI_KVS_Get_name_length_max(int *length);
int PMI_KVS_Get_key_length_max(int *length);
int PMI_KVS_Get_value_length_max(int *length);
int PMI_KVS_Put(const char kvsname[], const char key[], const char value[]);
int PMI_KVS_Commit(const char kvsname[]);
int PMI_KVS_Get(const char kvsname[], const char key[], char value[], int length);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
