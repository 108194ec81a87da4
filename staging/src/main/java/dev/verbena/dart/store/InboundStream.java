package dev.verbena.dart.store;

import dev.verbena.dart.step.StepSource;
import dev.verbena.dart.step.StepWait;
import dev.verbena.staging.DeliveredNumbers;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

/**
 * What a receiver knows of one server's stream; outlives a connection. Frames are taken in order;
 * each is settled once what it carried is safe; acknowledged is the part before the first frame
 * that is not settled, as far as the journal, if there is one, remembers it. Owned by the
 * receiver's agent.
 */
public final class InboundStream implements StepSource {
    /** Messages that may be half received. */
    private static final int OPEN_MAX = 8192;

    final UUID job;
    final int serverId;
    final Int2ObjectHashMap<InboundMessage> open = new Int2ObjectHashMap<>();

    /** Complete, and being stored; changed by {@link #storing} and {@link #stored} only. */
    final ArrayDeque<InboundMessage> storing = new ArrayDeque<>();

    /** Memory of these. */
    long storingBytes;

    /** The message for which a frame waits until it is read again; null: none. */
    InboundMessage wanted;

    /** Messages of a client that were delivered; they are not taken again. */
    final Int2ObjectHashMap<DeliveredNumbers> deliveredUpTo = new Int2ObjectHashMap<>();

    /** Delivered messages on which a frame may still depend. */
    final List<InboundMessage> delivered = new ArrayList<>();

    private final UnsettledFrames frames;
    private final boolean isJournaling;
    boolean isFinished;

    /**
     * Beginnings of messages may be gone for good: behind a gap that the user accepts, with a file,
     * or of an earlier receiver, which may have gone on so.
     */
    boolean hasLostBeginnings;

    /** Identity in the journal; 0: it does not know this stream yet. */
    int journalIndex;

    /** Something changed that the journal was not told. */
    boolean isDirty;

    /** As {@link #settledNext}, as far as the journal was told. */
    long journalingNext = 1;

    /** As {@link #settledNext}, as far as the journal remembers it through a crash. */
    private long journaledNext = 1;

    /** Clients that had messages delivered of which the journal was not told. */
    final IntHashSet newsOf = new IntHashSet();

    /** Granted to the server. */
    long window = Long.MAX_VALUE;

    private StepWait stepWait = StepWait.NONE;

    StreamSession session;

    /** Not connected since, as far as somebody looked; 0: it is. */
    long awaySinceNs;

    /** Host that its server connected from; empty: from before this receiver's start. */
    String source = "";

    /** Half messages of it were given up: what was acknowledged of them is nowhere any more. */
    boolean isHalfLost;

    private int crcFailures;
    boolean isSkipping;

    /**
     * @param isJournaling what is settled is acknowledged once the journal remembers it
     */
    public InboundStream(UUID job, int serverId, boolean isJournaling) {
        this.job = job;
        this.serverId = serverId;
        this.isJournaling = isJournaling;
        frames = new UnsettledFrames(isJournaling);
    }

    /** This connection brings it from now on; it comes from this host. */
    public void attach(StreamSession its, String host) {
        session = its;
        source = host;
        awaySinceNs = 0;
    }

    /** Its connection has ended. */
    public void detach() {
        session = null;
    }

    /** It is connected, as far as somebody looked. */
    public void present() {
        awaySinceNs = 0;
    }

    /** It is not connected; since now, if it was. */
    public void away(long nowNs) {
        awaySinceNs = awaySinceNs == 0 ? nowNs : awaySinceNs;
    }

    /** Its server is allowed so many bytes that are not acknowledged. */
    public void grant(long bytes) {
        window = bytes;
    }

    /** A frame waits until this message is read again; null: none. */
    public void want(InboundMessage message) {
        wanted = message;
    }

    /** A frame was damaged; how many were, one after the other. */
    public int damaged() {
        return ++crcFailures;
    }

    /** What comes is ignored until the frame that is wanted comes again. */
    public void skip() {
        isSkipping = true;
    }

    /** Frames come in order, and whole. */
    public void endSkipping() {
        isSkipping = false;
        crcFailures = 0;
    }

    /** Everything of it has come. */
    public void finish() {
        isFinished = true;
    }

    /** Half messages of it were given up. */
    public void loseHalf() {
        isHalfLost = true;
    }

    /** Beginnings of messages may be gone for good. */
    public void loseBeginnings() {
        hasLostBeginnings = true;
    }

    /** What was given up of half messages need not come back. */
    public void goOnWithoutHalves() {
        isHalfLost = false;
        hasLostBeginnings = true;
    }

    /** The journal has to be told of something. */
    public void changed() {
        isDirty = true;
    }

    /** By this number the journal knows it; 0: not at all. */
    void indexed(int index) {
        journalIndex = index;
    }

    /** The journal is told of everything up to now. */
    void journaling() {
        journalingNext = frames.first();
    }

    /** The journal was told of what had changed. */
    void unchanged() {
        isDirty = false;
    }

    /** Begins here: with what the journal remembers, or behind an accepted gap. */
    public void beginAt(long next) {
        frames.beginAt(next);
        journalingNext = next;
        journaledNext = next;
        isDirty = true;
    }

    /** The journal remembers what it was told. */
    void journaled(long next) {
        journaledNext = Math.max(journaledNext, next);
    }

    /** Everything before is acknowledged: settled, and remembered if there is a journal. */
    public long acknowledgedNext() {
        return isJournaling ? journaledNext : frames.first();
    }

    /** Its frames that were taken and are not settled. */
    public UnsettledFrames frames() {
        return frames;
    }

    /** Number of the next frame wanted from the wire. */
    @Override
    public long nextWanted() {
        return frames.next();
    }

    @Override
    public UUID job() {
        return job;
    }

    @Override
    public int serverId() {
        return serverId;
    }

    @Override
    public StepWait stepWait() {
        return stepWait;
    }

    @Override
    public void stepWait(StepWait wait) {
        stepWait = wait;
    }

    /** Number of the first frame that is not settled. */
    public long settledNext() {
        return frames.first();
    }

    /** Whether a server that keeps to what was granted could send so much more. */
    public boolean hasWindowFor(int length) {
        return frames.bytes() == 0 || frames.bytes() + length <= window;
    }

    /** A message that was begun and is not delivered; null if there is none. */
    public InboundMessage find(int clientId, long sequence) {
        InboundMessage message = open.get(clientId);
        if (message != null && message.sequence == sequence) {
            return message;
        }
        for (InboundMessage stored : storing) {
            if (stored.clientId == clientId && stored.sequence == sequence) {
                return stored;
            }
        }
        return null;
    }

    /**
     * A message that was delivered and that its step does not let go yet; null if there is none.
     */
    public InboundMessage findHeld(int clientId, long sequence) {
        for (int i = 0; i < delivered.size(); i++) {
            InboundMessage message = delivered.get(i);
            if (message.state == InboundMessage.HELD
                    && message.clientId == clientId
                    && message.sequence == sequence) {
                return message;
            }
        }
        return null;
    }

    /**
     * Bounds what a server can make this receiver remember; what is not delivered yet will be, and
     * counts.
     */
    public boolean hasRoomFor(int clientId) {
        int clients = deliveredUpTo.size() + open.size() + storing.size();
        return open.size() < OPEN_MAX
                && (clients < JournalRecord.CLIENTS_MAX || deliveredUpTo.containsKey(clientId));
    }

    /** Whether a message of this client has come and is not delivered. */
    public boolean isArriving(int clientId) {
        if (open.containsKey(clientId)) {
            return true;
        }
        for (InboundMessage message : storing) {
            if (message.clientId == clientId) {
                return true;
            }
        }
        return false;
    }

    /** Whether this message of the client, or a later one, was delivered over this stream. */
    public boolean isDelivered(int clientId, long sequence) {
        DeliveredNumbers numbers = deliveredUpTo.get(clientId);
        return numbers != null && sequence <= numbers.highest();
    }

    /** Whether this very message was delivered over this stream, as far as that is known. */
    boolean mayHaveDelivered(int clientId, long sequence) {
        DeliveredNumbers numbers = deliveredUpTo.get(clientId);
        return numbers != null && (numbers.contains(sequence) || numbers.isForgotten(sequence));
    }

    /** Whether this very message was delivered over this stream. */
    public boolean hasDelivered(int clientId, long sequence) {
        DeliveredNumbers numbers = deliveredUpTo.get(clientId);
        return numbers != null && numbers.contains(sequence);
    }

    /** It is complete, and is to be stored. */
    public void storing(InboundMessage message) {
        storing.add(message);
        storingBytes += message.memoryLength();
    }

    /** It need not be stored any more, or not now. */
    public void stored(InboundMessage message) {
        if (storing.peek() == message) {
            storing.poll();
        } else {
            storing.remove(message);
        }
        storingBytes -= message.memoryLength();
    }

    public void delivered(InboundMessage message) {
        neverAgain(message.clientId, message.sequence);
        delivered.add(message);
    }

    /** Frames of this message are ignored from now on. */
    void neverAgain(int clientId, long sequence) {
        numbersOf(clientId).add(sequence);
        newsOf.add(clientId);
    }

    DeliveredNumbers numbersOf(int clientId) {
        DeliveredNumbers numbers = deliveredUpTo.get(clientId);
        if (numbers == null) {
            numbers = new DeliveredNumbers();
            deliveredUpTo.put(clientId, numbers);
        }
        return numbers;
    }

    /**
     * Messages of this client up to this one need not come again after a crash: those that a step
     * still holds in memory only, must.
     */
    long rememberedUpTo(int clientId) {
        long upTo = deliveredUpTo.get(clientId).highest();
        for (int i = 0; i < delivered.size(); i++) {
            InboundMessage message = delivered.get(i);
            if (message.clientId == clientId && message.state == InboundMessage.HELD) {
                upTo = Math.min(upTo, message.sequence - 1);
            }
        }
        return upTo;
    }

    /** As {@link UnsettledFrames#needsForce}. */
    public InboundMessage needsForce(long nowNs) {
        return frames.needsForce(nowNs, window);
    }

    /** A frame was taken; a null message: nothing depends on it. */
    public void taken(InboundMessage message, long payloadEnd, int length, boolean isLast) {
        frames.add(message, payloadEnd, length, isLast);
    }

    /** As {@link UnsettledFrames#settle}. */
    public int settle() {
        int settled = frames.settle(newsOf);
        isDirty |= settled > 0;
        return settled;
    }

    public long awaySinceNs() {
        return awaySinceNs;
    }

    public List<InboundMessage> delivered() {
        return delivered;
    }

    public boolean hasLostBeginnings() {
        return hasLostBeginnings;
    }

    public boolean isFinished() {
        return isFinished;
    }

    public boolean isHalfLost() {
        return isHalfLost;
    }

    public boolean isSkipping() {
        return isSkipping;
    }

    public Int2ObjectHashMap<InboundMessage> open() {
        return open;
    }

    public StreamSession session() {
        return session;
    }

    public String source() {
        return source;
    }

    public ArrayDeque<InboundMessage> storing() {
        return storing;
    }

    public long storingBytes() {
        return storingBytes;
    }

    public InboundMessage wanted() {
        return wanted;
    }

    public long window() {
        return window;
    }

    @Override
    public String toString() {
        return "server " + serverId + " of job " + job;
    }
}
