/* What the stand-in for Cray's launcher answers, against the environment of the same process. */
#include <alps/alps.h>
#include <alps/alps_toolAssist.h>
#include <alps/libalpslli.h>
#include <alps/libalpsutil.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s\n", #condition);                                                   \
            return 3;                                                                              \
        }                                                                                          \
    } while (0)

static unsigned long of(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 0;
}

int main(void)
{
    uint64_t apid = 0;
    alpsAppLLIGni_t gni;
    alpsAppLayout_t layout;
    placeNodeList_t *placement;
    int status, *nids, *peers;
    size_t count;

    EXPECT(alps_app_lli_lock() == 0);
    EXPECT(alps_app_lli_get_response(&status, &count) == 0);
    EXPECT(status == ALPS_APP_LLI_ALPS_STAT_NONE && count == 0);
    EXPECT(alps_app_lli_put_request(999, NULL, 0) != 0);
    EXPECT(alps_app_lli_put_request(ALPS_APP_LLI_ALPS_REQ_APID, NULL, 0) == 0);
    EXPECT(alps_app_lli_get_response(&status, &count) == 0);
    EXPECT(status == ALPS_APP_LLI_ALPS_STAT_OK && count == sizeof(apid));
    EXPECT(alps_app_lli_get_response_bytes(&apid, count + 1) != 0);
    EXPECT(alps_app_lli_get_response_bytes(&apid, count) == 0 && apid == of("ALPS_APP_ID"));
    EXPECT(alps_app_lli_put_request(ALPS_APP_LLI_ALPS_REQ_GNI, NULL, 0) == 0);
    EXPECT(alps_app_lli_get_response(&status, &count) == 0 && count == sizeof(gni));
    EXPECT(alps_app_lli_get_response_bytes(&gni, count) == 0);
    EXPECT(gni.count == 1 && gni.u.buf[0].ptag == of("PMI_GNI_PTAG"));
    EXPECT(gni.u.buf[0].cookie == of("PMI_GNI_COOKIE"));
    EXPECT(alps_app_lli_unlock() == 0);

    EXPECT(alps_get_placement_info(apid + 1, &layout, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                   NULL, NULL) != 1);
    EXPECT(alps_get_placement_info(apid, &layout, &placement, &nids, &peers, NULL, NULL, NULL, NULL,
                                   NULL, NULL) == 1);
    EXPECT(layout.totalPes == (int)of("PMI_SIZE") && layout.apid == apid && peers == NULL);
    int rank = (int)of("ALPS_APP_PE");
    EXPECT(rank >= layout.firstPe && rank < layout.firstPe + layout.numPesHere);
    for (int i = 0; i < layout.totalPes; i++) {
        int is_here = i >= layout.firstPe && i < layout.firstPe + layout.numPesHere;

        EXPECT(nids[i] == placement[i].nid && (nids[i] == nids[rank]) == is_here);
    }
    free(nids);
    free(placement);
    printf("rank %d: %d here of %d\n", rank, layout.numPesHere, layout.totalPes);
    return 0;
}
