/* The second PMI, for programs that gni-run starts: what of it needs no spawning. Keys and values
 * are those of pmi.h. */
#ifndef VERBENA_PMI2_H
#define VERBENA_PMI2_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define PMI2_SUCCESS 0
#define PMI2_FAIL (-1)
#define PMI2_ERR_INIT 1
#define PMI2_ERR_NOMEM 2
#define PMI2_ERR_INVALID_ARG 3
#define PMI2_ERR_INVALID_KEY 4
#define PMI2_ERR_INVALID_KEY_LENGTH 5
#define PMI2_ERR_INVALID_VAL 6
#define PMI2_ERR_INVALID_VAL_LENGTH 7
#define PMI2_MAX_KEYLEN 64
#define PMI2_MAX_VALLEN 1024

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum);
int PMI2_Initialized(void);
int PMI2_Finalize(void);
/* Ends the whole job. */
int PMI2_Abort(int flag, const char msg[]);
int PMI2_Job_GetId(char jobid[], int jobid_size);
int PMI2_Job_GetRank(int *rank);
/* Processes of this node. */
int PMI2_Info_GetSize(int *size);
/* Known: universeSize, appNum. */
int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found);
int PMI2_KVS_Put(const char key[], const char value[]);
/* All processes meet; then everybody sees what anybody had put. */
int PMI2_KVS_Fence(void);
/* jobid: NULL or our own; src_pmi_id is a hint, and not needed. *vallen: bytes of the value, or,
 * negative, how many it would have had. */
int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
