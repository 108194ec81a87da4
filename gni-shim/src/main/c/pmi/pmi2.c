/* The second PMI, by means of the first. */
#define _GNU_SOURCE
#include "pmi2.h"
#include "pmi.h"
#include "pmi_shared.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int PMI2_Init(int *spawned, int *size, int *rank, int *appnum)
{
    int code;

    if (spawned == NULL || size == NULL || rank == NULL || appnum == NULL)
        return PMI2_ERR_INVALID_ARG;
    code = PMI_Init(spawned);
    if (code != PMI_SUCCESS)
        return code;
    PMI_Get_size(size);
    PMI_Get_rank(rank);
    return PMI_Get_appnum(appnum);
}

int PMI2_Initialized(void)
{
    PMI_BOOL is_initialised = PMI_FALSE;

    PMI_Initialized(&is_initialised);
    return is_initialised == PMI_TRUE;
}

int PMI2_Finalize(void)
{
    return PMI_Finalize();
}

int PMI2_Abort(int flag, const char msg[])
{
    return PMI_Abort(flag ? flag : 1, msg);
}

int PMI2_Job_GetId(char jobid[], int jobid_size)
{
    const char *id = getenv("ALPS_APP_ID");

    if (!PMI2_Initialized())
        return PMI2_ERR_INIT;
    if (jobid == NULL || jobid_size <= 0)
        return PMI2_ERR_INVALID_ARG;
    return snprintf(jobid, (size_t)jobid_size, "%s", id ? id : "0") < jobid_size
               ? PMI2_SUCCESS
               : PMI2_ERR_INVALID_VAL_LENGTH;
}

int PMI2_Job_GetRank(int *rank)
{
    return PMI_Get_rank(rank);
}

int PMI2_Info_GetSize(int *size)
{
    return PMI_Get_clique_size(size);
}

int PMI2_Info_GetJobAttr(const char name[], char value[], int valuelen, int *found)
{
    int number = 0, code;

    if (name == NULL || value == NULL || valuelen <= 0 || found == NULL)
        return PMI2_ERR_INVALID_ARG;
    *found = 0;
    if (strcmp(name, "universeSize") == 0)
        code = PMI_Get_universe_size(&number);
    else if (strcmp(name, "appNum") == 0)
        code = PMI_Get_appnum(&number);
    else
        return PMI2_Initialized() ? PMI2_SUCCESS : PMI2_ERR_INIT;
    if (code != PMI_SUCCESS)
        return code;
    if (snprintf(value, (size_t)valuelen, "%d", number) >= valuelen)
        return PMI2_ERR_INVALID_VAL_LENGTH;
    *found = 1;
    return PMI2_SUCCESS;
}

int PMI2_KVS_Put(const char key[], const char value[])
{
    return PMI_KVS_Put("kvs", key, value);
}

int PMI2_KVS_Fence(void)
{
    return PMI_Barrier();
}

int PMI2_KVS_Get(const char *jobid, int src_pmi_id, const char key[], char value[], int maxvalue,
                 int *vallen)
{
    char whole[PMI_VALUE_MAX];
    int code, length;

    (void)jobid, (void)src_pmi_id;
    if (key == NULL || value == NULL || maxvalue <= 0 || vallen == NULL)
        return PMI2_ERR_INVALID_ARG;
    code = PMI_KVS_Get("kvs", key, whole, sizeof(whole));
    if (code != PMI_SUCCESS)
        return code;
    length = (int)strlen(whole);
    snprintf(value, (size_t)maxvalue, "%s", whole);
    *vallen = length < maxvalue ? length : -length;
    return PMI2_SUCCESS;
}
