package dev.verbena.dart.server;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.stream.ReverseStream;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * t3's part of the way back: tells the receiver which clients have an inbox, how far they have
 * taken out, and how many more pieces this server can hold; hands pieces to t1. Knows nothing that
 * must survive a connection: numbers are agreed between receiver and client. Owned by t3.
 *
 * <pre>
 * payload of REVERSE_STATE, big-endian: 0:4 kind (0 only the grant, 1 here, 2 gone)
 *  4:4 client id   8:4 application id   12:4 rank   16:4 slots   20:4 length of a slot
 * 24:8 number of the last piece taken out (-1: just begun)
 * 32:8 pieces that may be sent in all over this connection
 * </pre>
 */
final class ReverseLink implements ReverseStream {
    private final ServerShared server;
    private final ReverseShared shared;
    private final ArrayDeque<ReversePiece> free = new ArrayDeque<>();
    private final List<InboxState> inboxes = new ArrayList<>();
    private long newsSeen;
    private int scanAt;
    private long received;
    private long granted;

    ReverseLink(ServerShared server) {
        this.server = server;
        this.shared = server.reverse;
    }

    @Override
    public void connected() {
        received = 0;
        granted = 0;
        scanAt = 0;
        for (int i = 0; i < inboxes.size(); i++) {
            inboxes.get(i).forgetTold();
        }
    }

    @Override
    public boolean hasNews() {
        ReversePiece back;
        while ((back = shared.empty.poll()) != null) {
            free.add(back);
        }
        long news = shared.news.get();
        if (news != newsSeen) {
            newsSeen = news;
            shared.opened.drain(inboxes::add);
            scanAt = 0;
        }
        while (scanAt < inboxes.size() && !needsTelling(inboxes.get(scanAt))) {
            scanAt++;
        }
        boolean isGrantDue = received + free.size() - granted >= ReverseShared.PIECES / 4;
        return scanAt < inboxes.size() || isGrantDue && !inboxes.isEmpty();
    }

    /** Whether this one has to be told; one that came and went unseen is forgotten. */
    private boolean needsTelling(InboxState inbox) {
        if (inbox.isGone) {
            if (!inbox.wasEverTold) {
                inboxes.remove(scanAt--);
                return false;
            }
            return true;
        }
        return inbox.hasNews();
    }

    @Override
    public void encode(MutableDirectBuffer out, int at) {
        granted = received + free.size();
        out.setMemory(at, FrameFlyweight.REVERSE_STATE_LENGTH, (byte) 0);
        out.putLong(at + 32, granted, BIG_ENDIAN);
        if (scanAt >= inboxes.size()) {
            return;
        }
        InboxState inbox = inboxes.get(scanAt);
        boolean isGone = inbox.isGone;
        out.putInt(
                at, isGone ? FrameFlyweight.REVERSE_GONE : FrameFlyweight.REVERSE_HERE, BIG_ENDIAN);
        out.putInt(at + 4, inbox.client.id, BIG_ENDIAN);
        out.putInt(at + 8, inbox.client.applicationId, BIG_ENDIAN);
        out.putInt(at + 12, inbox.client.rank, BIG_ENDIAN);
        out.putInt(at + 16, inbox.slotCount, BIG_ENDIAN);
        out.putInt(at + 20, PieceFlyweight.LENGTH_MAX, BIG_ENDIAN);
        out.putLong(at + 24, inbox.tell(), BIG_ENDIAN);
        if (isGone) {
            inboxes.remove(scanAt);
        } else {
            scanAt++;
        }
    }

    /**
     * A piece came.
     *
     * @throws DartException MALFORMED if more came than were granted
     */
    @Override
    public void onPiece(int clientId, DirectBuffer from, int at, int length) {
        received++;
        ReversePiece piece = free.poll();
        if (piece == null || received > granted) {
            throw Code.MALFORMED.because(
                    "frame: piece " + received + " where " + granted + " were granted");
        }
        piece.fill(clientId, from, at, length);
        shared.full.offer(piece);
        server.wakeT1();
    }
}
