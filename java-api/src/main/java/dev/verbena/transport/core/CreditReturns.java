package dev.verbena.transport.core;

/**
 * Tells peers how many of their messages and notifications were taken: a quarter of their credits
 * at a time, or when there is nothing else to do. One thread.
 *
 * @param <C> the provider's connection
 */
public final class CreditReturns<C extends TableConnection> {
    private static final int SHARE = 4;

    private final RecordConnections<C> connections;
    private boolean hasUntold;

    CreditReturns(RecordConnections<C> connections) {
        this.connections = connections;
    }

    /** A message or notification of this connection is not needed any more. */
    public void onReleased(long handle) {
        C c = connections.find(handle);
        if (c == null) {
            return;
        }
        c.onTaken();
        if (c.takenCount - c.takenTold >= Math.max(1, c.creditsGiven / SHARE)) {
            tell(c);
        } else {
            hasUntold = true;
        }
    }

    private void tell(C c) {
        if (c.state != TableConnection.CONNECTED) {
            return;
        }
        switch (connections.returnCredits(c)) {
            case RecordConnections.DELIVERED -> c.onTakenTold(c.takenCount);
            case RecordConnections.GONE -> connections.lose(c, "its process is gone");
            default -> hasUntold = true;
        }
    }

    /** Returns credits that were too few to be worth a record before. */
    public void tellAll() {
        if (!hasUntold) {
            return;
        }
        hasUntold = false;
        HandleTable<C> table = connections.table;
        for (int i = 0; i < table.size(); i++) {
            C c = table.at(i);
            if (c.takenTold != c.takenCount) {
                tell(c);
            }
        }
    }
}
