package dev.verbena.portals;

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
        int getPutLengthMax) {}
