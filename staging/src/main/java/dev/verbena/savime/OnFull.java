package dev.verbena.savime;

/** What a write does when as many bytes are queued as may be. */
public enum OnFull {
    /** It waits. */
    WAIT,
    /** It throws a {@link StagingException}. */
    THROW,
    /** Its future has failed. */
    FAIL
}
