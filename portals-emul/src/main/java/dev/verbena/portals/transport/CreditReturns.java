package dev.verbena.portals.transport;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.transport.TransportContext;

/**
 * Credits on their way: what peers have taken of ours, and what we tell them that we have taken of
 * theirs, a quarter of their credits at a time or when there is nothing else to do. One thread.
 */
final class CreditReturns {
    private static final int CREDIT_SHARE = 4;

    private final Card card;
    private final TransportContext context;
    private final ConnectionTable table;
    private final Connections connections;
    private boolean hasUntoldCredits;

    CreditReturns(
            Card card, TransportContext context, ConnectionTable table, Connections connections) {
        this.card = card;
        this.context = context;
        this.table = table;
        this.connections = connections;
    }

    /** The peer says how many messages it has taken. */
    void taken(PortalsConnection c, int taken) {
        if (!c.onTaken(taken)) {
            context.errorHandler()
                    .onError(
                            new IllegalStateException(
                                    c + ": the peer returned credits that it did not have"));
        }
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
            if (PlantedFaults.ENABLED) {
                PlantedFaults.step("java.portals.credits");
            }
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
