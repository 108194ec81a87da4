package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/** Status registers of an interface, {@code PTL_SR_...} in C. */
public final class PortalsRegister {
    /** Requests that nothing accepted. */
    public static final int DROP_COUNT = portals.PTL_SR_DROP_COUNT;

    /** Bytes of those. */
    public static final int DROP_LENGTH = portals.PTL_SR_DROP_LENGTH;

    public static final int RECEIVE_COUNT = portals.PTL_SR_RECV_COUNT;
    public static final int RECEIVE_LENGTH = portals.PTL_SR_RECV_LENGTH;
    public static final int SEND_COUNT = portals.PTL_SR_SEND_COUNT;
    public static final int SEND_LENGTH = portals.PTL_SR_SEND_LENGTH;

    /** Match entries that there are now, and at most were. */
    public static final int MATCH_ENTRIES = portals.PTL_SR_MES_CUR;

    public static final int MATCH_ENTRIES_MAX = portals.PTL_SR_MES_MAX;

    /** Memory descriptors that there are now, and at most were. */
    public static final int DESCRIPTORS = portals.PTL_SR_MDS_CUR;

    public static final int DESCRIPTORS_MAX = portals.PTL_SR_MDS_MAX;

    /** Event queues that there are now, and at most were. */
    public static final int EVENT_QUEUES = portals.PTL_SR_EQS_CUR;

    public static final int EVENT_QUEUES_MAX = portals.PTL_SR_EQS_MAX;

    private PortalsRegister() {}
}
