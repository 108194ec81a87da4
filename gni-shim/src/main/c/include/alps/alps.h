/* Names that programs for Cray's launcher use. Source-compatible: numbers and layouts are ours. */
#ifndef VERBENA_ALPS_ALPS_H
#define VERBENA_ALPS_ALPS_H

#include <stdint.h>

/* Requests of alps_app_lli_put_request. */
#define ALPS_APP_LLI_ALPS_REQ_APID 1
#define ALPS_APP_LLI_ALPS_REQ_GNI 2
/* Statuses of alps_app_lli_get_response. */
#define ALPS_APP_LLI_ALPS_STAT_OK 0
#define ALPS_APP_LLI_ALPS_STAT_NONE 1 /* nothing was asked, or nobody launched us */

/* A protection domain of the job. */
typedef struct alpsAppGni {
    uint16_t device;
    uint8_t ptag;
    uint8_t pad;
    uint32_t cookie;
} alpsAppGni_t;

/* The answer to ALPS_APP_LLI_ALPS_REQ_GNI. */
typedef struct alpsAppLLIGni {
    int32_t count;
    int32_t pad;
    union {
        alpsAppGni_t buf[1];
        uint8_t bytes[64];
    } u;
} alpsAppLLIGni_t;

#endif
