package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsOutcome;

/** Tells peers how many of their messages were taken, so that they may send as many. One thread. */
final class CreditReturns {
    private static final int CREDIT_SHARE = 4;

    private final Card card;
    private final ConnectionTable table;
    private final Connections connections;
    private boolean hasUntoldCredits;

    CreditReturns(Card card, ConnectionTable table, Connections connections) {
        this.card = card;
        this.table = table;
        this.connections = connections;
    }

    /** A message or notification of this connection is not needed any more. */
    void onReleased(long handle) {
        PortalsConnection c = table.find(handle);
        if (c == null) {
            return;
        }
        c.takenCount++;
        if (c.takenCount - c.takenTold >= Math.max(1, c.creditsGiven / CREDIT_SHARE)) {
            tellTaken(c);
        } else {
            hasUntoldCredits = true;
        }
    }

    private void tellTaken(PortalsConnection c) {
        if (c.state != PortalsConnection.CONNECTED) {
            return;
        }
        int outcome = card.putCredits(c.target, MessageHeader.bits(c.peerHandle, c.takenCount, 0));
        if (outcome == PortalsOutcome.DELIVERED) {
            c.takenTold = c.takenCount;
        } else if (Card.isPeerGone(outcome)) {
            connections.lose(c, "its process is gone");
        } else {
            hasUntoldCredits = true;
        }
    }

    /** Returns credits that were too few to be worth a put before; called when idle. */
    void tellAllTaken() {
        if (!hasUntoldCredits) {
            return;
        }
        hasUntoldCredits = false;
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection c = table.at(i);
            if (c.state == PortalsConnection.CONNECTED && c.takenTold != c.takenCount) {
                tellTaken(c);
            }
        }
    }
}
