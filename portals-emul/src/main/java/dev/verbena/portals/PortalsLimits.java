package dev.verbena.portals;

import dev.verbena.portals.bindings.ptl_ni_limits_t;

/**
 * Limits of an interface, {@code ptl_ni_limits_t}. The two {@code IndexMax} are the largest valid
 * index.
 */
public record PortalsLimits(
        int matchEntriesMax,
        int descriptorsMax,
        int eventQueuesMax,
        int accessIndexMax,
        int portalIndexMax,
        int segmentsMax,
        int matchListMax,
        int getPutLengthMax) {
    static PortalsLimits of(ptl_ni_limits_t actual) {
        return new PortalsLimits(
                actual.max_mes(),
                actual.max_mds(),
                actual.max_eqs(),
                actual.max_ac_index(),
                actual.max_pt_index(),
                actual.max_md_iovecs(),
                actual.max_me_list(),
                actual.max_getput_md());
    }
}
