package dev.verbena.ugni;

/** What everything that a NIC handle makes has in common. */
abstract class UgniObject implements AutoCloseable {
    final Nic owner;
    private boolean isClosed;
    private int users;

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
    private void retire() {
        isClosed = true;
        owner.disown(this);
    }

    /** The domain is closed: everything that it made has gone with it. */
    void retireWithDomain() {
        isClosed = true;
    }

    /** So many more use it, or fewer: it cannot be closed while there are any. */
    final void use(int by) {
        users += by;
    }

    final boolean isUsed() {
        return users > 0;
    }

    final void checkNotUsed() {
        if (users > 0) {
            throw new IllegalStateException(
                    "%s is used by %s %s".formatted(this, users, kindsOfUsers()));
        }
    }

    /** What may use it, for messages. */
    String kindsOfUsers() {
        return "posts in flight";
    }

    /**
     * Destroys it. Idempotent.
     *
     * @throws IllegalStateException while something uses it; nothing is freed then
     * @throws UgniException if the library refuses; it stays open then
     */
    @Override
    public final void close() {
        if (isClosed) {
            return;
        }
        owner.checkOwner();
        checkNotUsed();
        destroy();
        retire();
    }

    /** Destroys what C has. Throws if it cannot be closed now. */
    abstract void destroy();
}
