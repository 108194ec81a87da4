/*
 * Shows: access control, truncation, and what a target can learn about messages that it never took.
 * The process sends to itself; nothing is needed for that.
 * Run:   access
 */
#include <string.h>

#include "example.h"

#define PORTAL 1
#define BITS 42
#define OPEN 0   /* access control entries: this one admits everybody of this user */
#define CLOSED 1 /* and this one a process that does not exist */

static ptl_sr_value_t dropped(ptl_handle_ni_t ni)
{
    ptl_sr_value_t value = 0;

    PtlNIStatus(ni, PTL_SR_DROP_COUNT, &value);
    return value;
}

int main(void)
{
    static char place[6], message[] = "eleven long";
    const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_process_id_t self, somebody_else;
    ptl_ni_limits_t limits;
    ptl_handle_ni_t ni;
    ptl_handle_eq_t eq;
    ptl_handle_md_t source;
    ptl_event_t event;
    int interfaces, code;
    ptl_sr_value_t drops;
    ptl_md_t to = {.start = place,
                   .length = sizeof(place) - 1,
                   .threshold = PTL_MD_THRESH_INF,
                   .options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_TRUNCATE |
                              PTL_MD_EVENT_START_DISABLE};
    ptl_md_t from = {.start = message,
                     .length = sizeof(message) - 1,
                     .threshold = PTL_MD_THRESH_INF,
                     .eq_handle = PTL_EQ_NONE};

    MUST(PtlInit(&interfaces));
    MUST(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, &limits, &ni));
    MUST(PtlGetId(ni, &self));
    printf("process %u.%u, portal indices 0 to %d, at most %d match entries\n", self.nid, self.pid,
           limits.max_pt_index, limits.max_mes);
    somebody_else = self;
    somebody_else.pid = self.pid == 1 ? 2 : self.pid - 1;
    MUST(PtlACEntry(ni, CLOSED, somebody_else, PTL_UID_ANY, PTL_JID_ANY, PTL_PT_INDEX_ANY));
    MUST(PtlEQAlloc(ni, 8, PTL_EQ_HANDLER_NONE, &eq));
    to.eq_handle = eq;
    expose(ni, PORTAL, BITS, to, PTL_RETAIN);
    MUST(PtlMDBind(ni, from, PTL_RETAIN, &source));

    MUST(PtlPut(source, PTL_NO_ACK_REQ, self, PORTAL, CLOSED, BITS, 0, 0));
    printf("through the closed entry: %llu dropped\n", (unsigned long long)dropped(ni));
    MUST(PtlPut(source, PTL_NO_ACK_REQ, self, PORTAL, OPEN, BITS + 1, 0, 0));
    printf("with other match bits: %llu dropped\n", (unsigned long long)dropped(ni));
    MUST(PtlPut(source, PTL_NO_ACK_REQ, self, PORTAL, OPEN, BITS, 0, 7));
    MUST(PtlEQWait(eq, &event));
    printf("taken: %llu of %llu bytes, \"%s\", hdr_data %llu, still %llu dropped\n",
           (unsigned long long)event.mlength, (unsigned long long)event.rlength, place,
           (unsigned long long)event.hdr_data, (unsigned long long)dropped(ni));
    code = PtlPut(source, PTL_NO_ACK_REQ, anybody, PORTAL, OPEN, BITS, 0, 0);
    printf("to nobody in particular: %s\n", PtlErrorStr((unsigned)code));
    drops = dropped(ni);
    PtlFini();
    return drops == 2 && strcmp(place, "eleve") == 0 ? 0 : 1;
}
