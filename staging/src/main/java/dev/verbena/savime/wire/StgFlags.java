package dev.verbena.savime.wire;

/** Bits of STG/1: flags of messages, and features that client and server agree on. */
public final class StgFlags {
    /**
     * DATASET_OPEN: this dataset was begun before, over a connection that was lost; the message's
     * status is the low half of the number that it had.
     */
    public static final int FLAG_AGAIN = 1;

    /** RUN: do not wait for datasets. */
    public static final int FLAG_IMMEDIATE = 1;

    /** RUN: even if a dataset before it failed. */
    public static final int FLAG_EVEN_IF_FAILED = 2;

    /** RUN: the text is a dataset of type {@code command}. */
    public static final int FLAG_TEXT_IS_DATASET = 4;

    /** RUN: a dataset before it failed, whether this server knows of it or not. */
    public static final int FLAG_BEHIND_FAILED = 8;

    /** RUN: the client knows of every failure before it; what this server knows does not count. */
    public static final int FLAG_FAILURES_KNOWN = 16;

    /** RUN_RESULT: the text goes on in the next message of this request. */
    public static final int FLAG_MORE = 2;

    /** BYE: unfinished datasets are dropped. */
    public static final int FLAG_DROP = 1;

    public static final int FEATURE_CRC = 1;
    public static final int FEATURE_RESUME = 2;
    public static final int FEATURE_TCP_DATA = 4;

    private StgFlags() {}
}
