package dev.verbena.portals;

/** What a match entry, memory descriptor, event queue and memory have in common. */
abstract class PortalsObject implements AutoCloseable {
    final PortalsInterface owner;
    private boolean isClosed;

    PortalsObject(PortalsInterface owner) {
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

    /** Marks it closed and forgets it at its interface. */
    final void retire() {
        isClosed = true;
        owner.disown(this);
    }

    /** The interface is closed: everything that it made has gone with it. */
    void retireWithInterface() {
        isClosed = true;
    }

    @Override
    public abstract void close();
}
