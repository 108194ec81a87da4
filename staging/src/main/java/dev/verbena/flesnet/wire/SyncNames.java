package dev.verbena.flesnet.wire;

/** Names that inputs and compute nodes agree on. */
public final class SyncNames {
    /** Protocol of the file that a compute node publishes. */
    public static final String PROTOCOL = "flesnet/1";

    private SyncNames() {}
}
