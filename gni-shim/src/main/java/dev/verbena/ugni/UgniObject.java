package dev.verbena.ugni;

/** What everything that a NIC handle makes has in common. */
abstract class UgniObject implements AutoCloseable {
    final Nic owner;
    private boolean isClosed;

    UgniObject(Nic owner) {
        this.owner = owner;
        owner.adopt(this);
    }

    /** True after {@link #close}. */
    public final boolean isClosed() {
        return isClosed;
    }

    final void checkOpen() {
        owner.checkOwner();
        if (isClosed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    /** Marks it closed and forgets it at its NIC handle. */
    final void retire() {
        isClosed = true;
        owner.disown(this);
    }

    /** The domain is closed: everything that it made has gone with it. */
    void retireWithDomain() {
        isClosed = true;
    }

    @Override
    public abstract void close();
}
