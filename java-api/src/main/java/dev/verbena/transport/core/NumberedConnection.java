package dev.verbena.transport.core;

/** A connection of a {@link ConnectionTable}: its handle says its place there. */
public abstract class NumberedConnection {
    /** What the user knows it by. */
    public final long handle;

    /** Its place in the table. */
    public final int index;

    /** For providers. */
    protected NumberedConnection(long handle) {
        this.handle = handle;
        this.index = ConnectionTable.index(handle);
    }
}
