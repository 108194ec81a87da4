package dev.verbena.ugni.transport;

import dev.verbena.agent.internal.PlantedFaults;

/**
 * Credits: how many messages may still be sent, and telling peers what we have taken of theirs, a
 * quarter of their credits at a time or when there is nothing else to do. They are the contract's
 * credits, which a retained message keeps; those of short messages come back with each copy and
 * never run out before these. One thread.
 */
final class Credits {
    private static final int SHARE = 4;

    private final Mailboxes mailboxes;
    private final ConnectionTable table;
    private final Connections connections;
    private boolean hasUntold;

    Credits(Mailboxes mailboxes, ConnectionTable table, Connections connections) {
        this.mailboxes = mailboxes;
        this.table = table;
        this.connections = connections;
    }

    /** Whether the peer has room for one more message or notification. */
    boolean hasOne(GniConnection c) {
        if (c.sentCount - c.takenByPeer < c.credits) {
            return true;
        }
        long taken = Mailboxes.takenByPeer(c);
        if (taken > c.sentCount || taken < c.takenByPeer) {
            connections.corrupt(c, "returned credits that it did not have");
            return false;
        }
        c.takenByPeer = taken;
        boolean isIgnored = PlantedFaults.ENABLED && PlantedFaults.isOn("gni-java-credits-ignored");
        return c.sentCount - taken < c.credits || isIgnored;
    }

    /** A message or notification of this connection is not needed any more. */
    void onReleased(long handle) {
        GniConnection c = table.find(handle);
        if (c == null) {
            return;
        }
        c.takenCount++;
        if (c.takenCount - c.takenTold >= Math.max(1, c.credits / SHARE)) {
            tell(c);
        } else {
            hasUntold = true;
        }
    }

    private void tell(GniConnection c) {
        if (c.state != GniConnection.CONNECTED) {
            return;
        }
        if (mailboxes.tellTaken(c) < 0) {
            hasUntold = true; // the source queue is full, or the peer is gone: its watch tells
            return;
        }
        c.takenTold = c.takenCount;
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.gni.credits");
        }
    }

    /** Returns credits that were too few to be worth a put before; called when idle. */
    void tellAll() {
        if (!hasUntold) {
            return;
        }
        hasUntold = false;
        for (int i = 0; i < table.size(); i++) {
            GniConnection c = table.at(i);
            if (c.state == GniConnection.CONNECTED && c.takenTold != c.takenCount) {
                tell(c);
            }
        }
    }
}
