/* The tests' interface by the extensions of this library: operations are complete when they return.
 */
#include "check.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

void nic_prepare(void)
{
}

int nic_open(uint32_t flavor, ptl_ni_limits_t *wanted, ptl_ni_limits_t *granted,
             ptl_handle_ni_t *handle)
{
    ptl_ext_options_t options = {.flavor = flavor, .lock_timeout_ms = check_lock_timeout_ms};

    return PtlExtNIOpen(&options, wanted, granted, handle, NULL, 0);
}

pid_t nic_start(void (*body)(void))
{
    pid_t pid = fork();

    if (pid < 0)
        check_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    if (pid == 0) {
        check_initiator(body);
    }
    return pid;
}

int nic_join(pid_t pid)
{
    int state;

    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            check_fail(__FILE__, __LINE__, "waitpid: %s", strerror(errno));
    return state;
}

void nic_settle(void)
{
}

int nic_event_due(ptl_handle_eq_t eq, ptl_event_t *event)
{
    return PtlEQGet(eq, event);
}

int nic_event_not_due(ptl_handle_eq_t eq, ptl_event_t *event)
{
    return PtlEQGet(eq, event);
}

const char *nic_error(void)
{
    return PtlExtError();
}

int nic_faults(ptl_handle_ni_t handle, char *text, size_t size)
{
    return PtlExtCheck(handle, text, size);
}
