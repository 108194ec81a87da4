package dev.verbena.dart.server;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.Counters;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;

/**
 * t1's part of the way back: puts pieces that came from the receiver into the inboxes of clients,
 * one at a time for each client, so that no old piece can land on a newer one. What does not fit
 * into the window of a client is dropped: it is sent again by the receiver, who keeps it. Owned by
 * t1.
 */
final class ReversePuts implements AutoCloseable {
    private final ServerShared server;
    private final ReverseShared shared;
    private final Transport transport;
    private final RegisteredRegion region;
    private final ReversePiece[] pieces = new ReversePiece[ReverseShared.PIECES];
    private final PieceFlyweight piece = new PieceFlyweight();
    private final ArrayDeque<InboxState> busy = new ArrayDeque<>();
    private int outstanding;

    ReversePuts(ServerShared server, Transport transport) {
        this.server = server;
        this.shared = server.reverse;
        this.transport = transport;
        int length = PieceFlyweight.LENGTH_MAX;
        region = transport.allocate((long) length * pieces.length, 0);
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new ReversePiece(i, region.buffer((long) i * length, length));
            shared.empty.offer(pieces[i]);
        }
    }

    /** A client's inbox is open, or it has taken pieces out. */
    void onInbox(ServedClient client, ControlFlyweight record) {
        if (record.slotLength() != PieceFlyweight.LENGTH_MAX) {
            // The receiver would end this server's stream, and with it those of all others.
            throw Code.MALFORMED.because(
                    "inbox of %s with slots of %s bytes, not %s",
                    client, record.slotLength(), PieceFlyweight.LENGTH_MAX);
        }
        InboxState known = client.inbox;
        long taken = record.taken();
        boolean isSame = known != null && !known.isGone && known.slotCount == record.slotCount();
        if (isSame && taken >= known.taken) {
            known.tookOut(taken);
        } else {
            if (known != null) {
                gone(client);
            }
            InboxState opened = new InboxState(client, record.slotCount(), taken);
            record.descriptorInto(opened.descriptor);
            if (!shared.opened.offer(opened)) {
                return; // Nobody listens: the data are thrown away at the server.
            }
            client.openInbox(opened);
        }
        tell();
    }

    private void tell() {
        Counters.add(shared.news, 1);
        server.wakeT3();
    }

    /** A client has left. */
    void gone(ServedClient client) {
        InboxState inbox = client.inbox;
        if (inbox != null) {
            client.closeInbox();
            inbox.clientLeft();
            tell();
        }
    }

    int doWork(ServedClients clients) {
        int work = 0;
        ReversePiece next;
        while (work < ReverseShared.PIECES && (next = shared.full.poll()) != null) {
            work++;
            ServedClient client = clients.byId(next.clientId);
            InboxState inbox = client == null ? null : client.inbox;
            if (inbox == null || !isWanted(inbox, next)) {
                free(next);
                continue;
            }
            next.goesTo(inbox);
            inbox.waiting.add(next);
            if (inbox.waiting.size() == 1 && !inbox.isPutting) {
                busy.add(inbox);
            }
        }
        for (int i = busy.size(); i > 0; i--) {
            InboxState inbox = busy.poll();
            if (put(inbox)) {
                work++;
            } else {
                busy.add(inbox);
            }
        }
        if (work > 0) {
            server.wakeT3();
        }
        return work;
    }

    /** Whether the piece makes sense for this inbox now; takes its number out of it. */
    private boolean isWanted(InboxState inbox, ReversePiece next) {
        if (piece.wrap(next.window, 0, next.length) != null) {
            return false;
        }
        next.numbered(piece.number());
        long taken = inbox.taken;
        return taken < 0 || next.number > taken && next.number <= taken + inbox.slotCount;
    }

    /** It was put, or is of no use. */
    private void free(ReversePiece next) {
        next.free();
        shared.empty.offer(next);
    }

    /** Puts the next piece; false if it has to be tried again. */
    private boolean put(InboxState inbox) {
        ReversePiece next = inbox.waiting.peek();
        if (next == null || inbox.isPutting) {
            return true;
        }
        ServerPeer peer = inbox.client.peer;
        int answer = Transport.NOT_CONNECTED;
        if (!inbox.isGone && peer != null && peer.isConnected && isWanted(inbox, next)) {
            int slot = (int) (next.number % inbox.slotCount);
            answer =
                    transport.putNotify(
                            peer.connection,
                            region,
                            (long) next.index * PieceFlyweight.LENGTH_MAX,
                            inbox.descriptor,
                            (long) slot * PieceFlyweight.LENGTH_MAX,
                            next.length,
                            slot,
                            next.index,
                            0);
        }
        if (answer == Transport.BACK_PRESSURED) {
            return false;
        }
        inbox.waiting.poll();
        if (answer == Transport.ACCEPTED) {
            inbox.putBegan();
            outstanding++;
        } else {
            free(next);
            return inbox.waiting.isEmpty();
        }
        return true;
    }

    void onCompletion(long context) {
        ReversePiece done = pieces[(int) context];
        InboxState inbox = done.inbox;
        outstanding--;
        inbox.putEnded();
        if (!inbox.waiting.isEmpty()) {
            busy.add(inbox);
        }
        free(done);
        server.wakeT3();
    }

    boolean isIdle() {
        return outstanding == 0;
    }

    @Override
    public void close() {
        region.close();
    }
}
