/* A stand-in for Cray's libalpslli: answers from what gni-run put into the environment. */
#include <alps/libalpslli.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The interface is one conversation for each process, by its own definition. */
static pthread_mutex_t talk = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int status;
    size_t count;
    union {
        uint64_t apid;
        alpsAppLLIGni_t gni;
    } answer;
} reply = {.status = ALPS_APP_LLI_ALPS_STAT_NONE};

int alps_app_lli_lock(void)
{
    return pthread_mutex_lock(&talk);
}

int alps_app_lli_unlock(void)
{
    return pthread_mutex_unlock(&talk);
}

int alps_app_lli_put_request(int request, const void *bytes, size_t count)
{
    const char *apid = getenv("ALPS_APP_ID"), *ptag = getenv("PMI_GNI_PTAG");
    const char *cookie = getenv("PMI_GNI_COOKIE");

    (void)bytes, (void)count;
    memset(&reply, 0, sizeof(reply));
    reply.status = ALPS_APP_LLI_ALPS_STAT_NONE;
    if (request == ALPS_APP_LLI_ALPS_REQ_APID && apid != NULL) {
        reply.answer.apid = strtoull(apid, NULL, 10);
        reply.count = sizeof(reply.answer.apid);
    } else if (request == ALPS_APP_LLI_ALPS_REQ_GNI && ptag != NULL && cookie != NULL) {
        reply.answer.gni.count = 1;
        reply.answer.gni.u.buf[0].ptag = (uint8_t)strtoul(ptag, NULL, 10);
        reply.answer.gni.u.buf[0].cookie = (uint32_t)strtoul(cookie, NULL, 10);
        reply.count = sizeof(reply.answer.gni);
    } else if (request != ALPS_APP_LLI_ALPS_REQ_APID && request != ALPS_APP_LLI_ALPS_REQ_GNI) {
        return EINVAL;
    }
    if (reply.count != 0)
        reply.status = ALPS_APP_LLI_ALPS_STAT_OK;
    return 0;
}

int alps_app_lli_get_response(int *status, size_t *count)
{
    if (status == NULL || count == NULL)
        return EINVAL;
    *status = reply.status;
    *count = reply.count;
    return 0;
}

int alps_app_lli_get_response_bytes(void *bytes, size_t count)
{
    if (bytes == NULL || count > reply.count)
        return EINVAL;
    memcpy(bytes, &reply.answer, count);
    return 0;
}
