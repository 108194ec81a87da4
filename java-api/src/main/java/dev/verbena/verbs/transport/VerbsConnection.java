package dev.verbena.verbs.transport;

import dev.verbena.transport.Status;
import dev.verbena.transport.core.NumberedConnection;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionStatus;
import dev.verbena.verbs.Post;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequestFlyweight;
import dev.verbena.verbs.SendRequests;
import java.net.URI;

/**
 * One connection: its state, its two queue pairs, the operations that are under way in the order of
 * their acceptance, and the credits both ways. Others read the fields; the methods write them.
 * Owned by the transport's thread.
 */
final class VerbsConnection extends NumberedConnection {
    /** States, in their order. */
    static final int OFFERED = 1;

    static final int CONNECTING = 2;

    /** We accepted and wait for the peer's word that its pairs are joined, too. */
    static final int ACCEPTED = 3;

    /** Joined; {@code onConnected} was not delivered yet. */
    static final int JOINED = 4;

    static final int OPEN = 5;

    /** {@code disconnect} was called; what was accepted goes on. */
    static final int LEAVING = 6;

    /** We have said BYE and wait for the peer's last requests. */
    static final int LEFT = 7;

    /** The peer said BYE; our last requests are under way. */
    static final int DRAINING = 8;

    /** The peer is gone; what is outstanding is being flushed. */
    static final int DYING = 9;

    /** Only the event is left to be delivered. */
    static final int ENDED = 10;

    private static final int NO_WORK = -1;

    final URI peer;
    final PeerChannel channel;
    private final Sending sending;
    final VerbsCredits credits = new VerbsCredits();
    long context;
    int state;
    Endpoint endpoint;
    QueuePair out;
    QueuePair in;

    /** Why it ends, and whether in order. */
    String endReason = "";

    boolean isInOrder;

    /** BYE came while we were leaving. */
    boolean hasPeerLeft;

    /** {@code disconnect} was called: its end is no event. */
    boolean isQuiet;

    /** Pairs of it that carried out requests and are not closed yet. */
    int retiredCount;

    /** See {@link QueuePairs}: when every message that had come by then was delivered. */
    QueuePairs.Mark drainMark;

    /** Gives up waiting for the NIC then. */
    long flushDeadlineNs;

    /** Works under way, first to last, and the first that is not wholly posted. */
    private Work first;

    private Work last;
    private Work cursor;

    /** Requests that the NIC has. */
    private int inFlight;

    /** The NIC refused the first work; its pair is being made anew. */
    private boolean isRefused;

    private boolean isUnanswered;

    private boolean isRepairing;
    private int repairSerial;

    VerbsConnection(long handle, URI peer, PeerChannel channel, Sending sending) {
        super(handle);
        this.peer = peer;
        this.channel = channel;
        this.sending = sending;
    }

    /** What the connections of a transport share when they post. */
    static final class Sending {
        final VerbsResources resources;
        final WorkPool works;
        final SendRequests requests;

        /** Requests that the NIC has, of all connections. */
        int inFlight;

        Sending(VerbsResources resources, WorkPool works, SendRequests requests) {
            this.resources = resources;
            this.works = works;
            this.requests = requests;
        }
    }

    // ---- how it begins ----

    /** The peer has asked, and is there. */
    void offered(Endpoint endpoint) {
        state = OFFERED;
        this.endpoint = endpoint;
    }

    /** We are about to ask. */
    void connecting(long context) {
        state = CONNECTING;
        this.context = context;
    }

    /** The user accepts. */
    void accepted(long context) {
        state = ACCEPTED;
        this.context = context;
    }

    /** The pairs are joined with the peer's. */
    void agreed(Endpoint endpoint, int ownCredits) {
        this.endpoint = endpoint;
        credits.agreed(Math.min(endpoint.credits(), ownCredits));
    }

    /** It is in this state now. */
    void become(int next) {
        state = next;
    }

    /** The user is about to learn that it is joined, if it still is. */
    void opened() {
        if (state == JOINED) {
            state = OPEN;
        }
    }

    // ---- pairs ----

    /** Our requests go through this pair. */
    void takeOut(QueuePair pair) {
        out = pair;
    }

    /** The peer's requests come through this pair; null: through none any more. */
    void takeIn(QueuePair pair) {
        in = pair;
    }

    /** A pair that carried out requests is waited for before it is closed. */
    void pairRetired() {
        retiredCount++;
    }

    /** One of those was closed. */
    void retiredPairClosed() {
        retiredCount--;
    }

    /** What had come by now is to be delivered before it ends; see {@link QueuePairs}. */
    void markDrain(QueuePairs.Mark mark) {
        drainMark = mark;
    }

    // ---- what is under way ----

    /** Whether operations are under way. */
    boolean hasWorks() {
        return first != null;
    }

    boolean isIdle() {
        return first == null && inFlight == 0 && !isRefused && !isRepairing;
    }

    int inFlight() {
        return inFlight;
    }

    /** Whether the peer's answers are awaited before anything can be posted. */
    boolean isStopped() {
        return isRefused || isRepairing;
    }

    // ---- works ----

    /** Takes a work; it will be posted, in its turn. */
    void add(Work work) {
        if (work.hasCredit()) {
            credits.take();
        }
        if (first == null) {
            first = work;
        } else {
            last.precede(work);
        }
        last = work;
        if (cursor == null) {
            cursor = work;
        }
    }

    boolean hasUnposted() {
        return (cursor != null || isReturnDue()) && !isStopped() && state < DYING;
    }

    private boolean isReturnDue() {
        return credits.isReturnDue() && state >= OPEN && state <= LEAVING;
    }

    /** Posts what there is room for; answers false if the NIC refused to take it. */
    boolean pump() {
        while (hasUnposted()) {
            int room = Math.min(out.sendRoom(), sending.resources.sendsMax - sending.inFlight);
            int count = fill(Math.min(room, sending.requests.capacity()));
            if (count == 0) {
                return true;
            }
            int posted = 0;
            while (posted < count) {
                int result = out.post(sending.requests, posted, count - posted);
                if (result < 1) {
                    endReason = "cannot be posted to: " + Post.name(result) + ", " + out.refusal();
                    inFlight -= count - posted;
                    sending.inFlight -= count - posted;
                    return false;
                }
                posted += result;
            }
        }
        return true;
    }

    private int fill(int room) {
        int count = 0;
        if (room > 0 && isReturnDue()) {
            SendRequestFlyweight request = sending.requests.at(count++);
            request.segments(0).sendImmediate(credits.beginReturn()).fenced(false).id(id(NO_WORK));
        }
        while (count < room && cursor != null) {
            if (cursor.isNothing()) {
                cursor = cursor.next; // it ends when it is the first
                continue;
            }
            SendRequestFlyweight request = sending.requests.at(count++);
            cursor.fill(request, sending.resources.segmentMax);
            request.id(id(cursor.index));
            if (cursor.isPosted) {
                cursor = cursor.next;
            }
        }
        inFlight += count;
        sending.inFlight += count;
        return count;
    }

    private long id(int work) {
        return (long) index << Integer.SIZE | Integer.toUnsignedLong(work);
    }

    static int indexOf(long id) {
        return (int) (id >>> Integer.SIZE);
    }

    /**
     * One request of ours completed.
     *
     * @return null, or why the connection cannot go on
     */
    String completed(CompletionFlyweight completion) {
        if (inFlight == 0) {
            return null; // given up already
        }
        inFlight--;
        sending.inFlight--;
        int work = (int) completion.id();
        if (completion.isSuccess()) {
            if (work == NO_WORK) {
                credits.returned();
            } else {
                succeeded(sending.works.at(work));
            }
            return null;
        }
        if (state >= DYING || isRefused && completion.status() == CompletionStatus.FLUSHED) {
            return null;
        }
        if (work == NO_WORK || !mayBeRefused(sending.works.at(work), completion.status())) {
            return CompletionStatus.text(completion.status());
        }
        isRefused = true;
        isUnanswered = completion.status() != CompletionStatus.REMOTE_ACCESS;
        return null;
    }

    /**
     * Soft-RoCE names the begin of a get whose memory went away in its midst. To its initiator that
     * is an old packet, and the get stays unanswered.
     */
    private boolean mayBeRefused(Work work, int status) {
        return status == CompletionStatus.REMOTE_ACCESS
                || status == CompletionStatus.RETRIES_EXCEEDED
                        && work.isGet()
                        && work.mayRepeatBehind()
                        && !credits.isReturning();
    }

    private void succeeded(Work work) {
        if (work == first && work.complete()) {
            remove();
            sending.works.end(work);
            endEmpty();
        }
    }

    /** What has nothing to post and waited, for its fence, for what was before it. */
    private void endEmpty() {
        while (first != null && first.isNothing()) {
            Work work = first;
            remove();
            sending.works.end(work);
        }
    }

    private void remove() {
        if (cursor == first) {
            cursor = first.next;
        }
        first = first.next;
        if (first == null) {
            last = null;
        }
    }

    // ---- refused requests ----

    /** The NIC has given back every request behind the refused one. */
    boolean isReadyToRepair() {
        return isRefused && !isRepairing && inFlight == 0 && state < DYING;
    }

    /** Takes a new pair for our requests and answers what the peer must be told. */
    Frames.Repair repair(QueuePair fresh, int packet) {
        out = fresh;
        isRepairing = true;
        credits.returnLost();
        repairSerial++;
        return first.refused(
                fresh.number(), packet, sending.resources.segmentMax, repairSerial, isUnanswered);
    }

    boolean isRepair(int serial) {
        return isRepairing && serial == repairSerial;
    }

    /** The new pair is joined: the refused work ends, and those behind it begin again. */
    void repaired(int status) {
        Work refused = first;
        cursor = null;
        remove();
        if (refused.hasCredit()) {
            credits.takeBack();
        }
        refused.fail(status);
        sending.works.end(refused);
        endEmpty();
        isRefused = false;
        isRepairing = false;
        for (Work work = first; work != null; work = work.next) {
            work.restart();
        }
        cursor = first;
    }

    // ---- the end ----

    /** The peer said BYE while we were leaving. */
    void peerLeft() {
        hasPeerLeft = true;
    }

    /** The peer said BYE: nothing more is posted. */
    void draining() {
        state = DRAINING;
        cursor = null;
    }

    /** The peer is gone: nothing more is posted, and the NIC has until then for what was. */
    void dying(String reason, boolean isInOrder, long flushDeadlineNs) {
        isQuiet = state == LEAVING || state == LEFT;
        this.isInOrder = isInOrder || state == DRAINING;
        state = DYING;
        endReason = "peer " + peer + " " + reason;
        this.flushDeadlineNs = flushDeadlineNs;
        cursor = null;
    }

    /** Ends every work that is left: what was begun may or may not have happened. */
    void failAll() {
        while (first != null) {
            Work work = first;
            remove();
            work.fail(work.isStarted ? Status.PEER_DEAD : Status.FLUSHED);
            sending.works.end(work);
        }
        cursor = null;
        last = null;
        sending.inFlight -= inFlight;
        inFlight = 0;
        isRefused = false;
        isRepairing = false;
    }

    @Override
    public String toString() {
        return "connection to " + peer;
    }
}
