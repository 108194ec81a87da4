/*
 * What the tests need of an implementation and Portals has no call for: one more interface, a
 * process that is the initiator, texts. Two of them:
 *   nic_ext.c        by the extensions of this library
 *   nic_standard.c   by the calls of portals3.h alone (-DPORTALS_STANDARD), for any implementation
 */
#ifndef NIC_H
#define NIC_H

#include <stdint.h>
#include <sys/types.h>

#if defined(PORTALS_STANDARD) && defined(PTL3_FLAVOR_CRAY)
#include <portals/portals3.h>
#elif defined(PORTALS_STANDARD)
#include <portals3.h>
#else
#include "portals3.h"
#include "portals3_ext.h"
#endif

#ifdef PTL3_FLAVOR_CRAY
#ifndef PTL_EQ_HANDLER_NONE
#define PTL_EQ_HANDLER_NONE NULL
#endif
#define PtlErrorStr(code) ptl_err_str[code]
#define PtlEventKindStr(kind) ptl_event_str[kind]
#endif

#ifdef PORTALS_STANDARD
#define PTL_EXT_REF 0
#define PTL_EXT_CRAY 1
/* What this library promises beyond the assertions is asked of no other. */
#define OURS(check) ((void)0)
#else
#define OURS(check) check
#endif
/* Of the last operation. The standard does not tell the initiator: the target's drops do. */
#define EXPECT_OUTCOME(expected) OURS(CHECK_EQ(expected, PtlExtLastOutcome()))

/* In the process of a case, before it calls Portals. */
void nic_prepare(void);
/* Returns the code of the call. */
int nic_open(uint32_t flavor, ptl_ni_limits_t *wanted, ptl_ni_limits_t *granted,
             ptl_handle_ni_t *handle);
/* A process without anything of Portals open runs check_initiator(body); the id of it. */
pid_t nic_start(void (*body)(void));
/* Its status as waitpid gives it. */
int nic_join(pid_t pid);
/* Gives messages that are under way the time to arrive, where an implementation needs it. */
void nic_settle(void);
/* The code and event of a queue that should have one; of one that may have none. */
int nic_event_due(ptl_handle_eq_t eq, ptl_event_t *event);
int nic_event_not_due(ptl_handle_eq_t eq, ptl_event_t *event);
/* Of the last failed call, for people. */
const char *nic_error(void);
/* Faults that the library finds in its own data. */
int nic_faults(ptl_handle_ni_t handle, char *text, size_t size);

#endif
