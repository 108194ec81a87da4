package dev.verbena.ofi.transport;

import dev.verbena.transport.core.TableConnection;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * One connection, or the attempt at one. Its slot in the table is used again after it has ended.
 * Others read the fields; the methods write them.
 */
final class OfiConnection extends TableConnection {
    static final int NONE = -1;

    /** Where its records go. */
    OfiPeer peer;

    /** Incarnation that the URI asked for; 0: any. */
    long wanted;

    /** Whether somebody is at the peer's address was asked. */
    boolean isProbed;

    /** The peer has disconnected: nothing of its operations is under way. */
    boolean isPeerDone;

    /** As {@link #isPeerDone}, but its provider may go on with operations that it gave up. */
    boolean hasPeerGivenUp;

    /** The peer has disconnected, and is to hear when nothing of ours is under way. */
    boolean isAnswerDue;

    /** We have disconnected, and the peer is to say when nothing of its own is under way. */
    boolean isAnswerAsked;

    /** A close of a region got no answer from it, and it has said nothing of keys since. */
    boolean isSilent;

    /** Receive slots with what arrived and was not delivered; {@link #NONE}: nothing. */
    int firstSlot = NONE;

    int lastSlot = NONE;

    /** When operations end whose peer has disconnected. */
    long endNs;

    private final Long2ObjectHashMap<RemoteKey> keys = new Long2ObjectHashMap<>();
    private RemoteKey lastKey;
    private long movingBytes;

    OfiConnection(int index) {
        super(index);
    }

    @Override
    protected void reset() {
        super.reset();
        peer = null;
        wanted = 0;
        isProbed = false;
        isPeerDone = false;
        hasPeerGivenUp = false;
        isAnswerDue = false;
        isAnswerAsked = false;
        isSilent = false;
        firstSlot = NONE;
        lastSlot = NONE;
        movingBytes = 0;
        keys.clear();
        lastKey = null;
    }

    /** It is to go to this peer. */
    void seek(OfiPeer peer, long wanted) {
        this.peer = peer;
        this.wanted = wanted;
    }

    /** Records go to this peer. */
    void join(OfiPeer peer) {
        this.peer = peer;
    }

    /** Whether it is bound to this incarnation, which is its peer's present one. */
    boolean isWith(long incarnation) {
        return peerProcess != 0
                && peerIncarnation == incarnation
                && peer.incarnation == incarnation;
    }

    void peerDone(boolean asksForAnswer) {
        isPeerDone = true;
        isAnswerDue = asksForAnswer;
    }

    void peerGaveUp(boolean hasGivenUp) {
        hasPeerGivenUp |= hasGivenUp;
    }

    /** What the provider still has of our operations nobody waits for. */
    void giveUp() {
        isAnswerDue = false;
    }

    void askedForAnswer() {
        isAnswerAsked = true;
    }

    void silent(boolean isSilent) {
        this.isSilent = isSilent;
    }

    void probed() {
        isProbed = true;
    }

    /** A message, which tells what was taken. */
    void onSent() {
        onMessageSent();
        onTakenTold(takenCount);
    }

    void slots(int first, int last) {
        firstSlot = first;
        lastSlot = last;
    }

    void endAt(long ns) {
        endNs = ns;
    }

    long endNs() {
        return endNs;
    }

    /** What is known of this key, or null. */
    RemoteKey key(long key) {
        RemoteKey last = lastKey;
        if (last == null || last.key != key) {
            last = keys.get(key);
            lastKey = last;
        }
        return last;
    }

    RemoteKey newKey(long key) {
        RemoteKey made = new RemoteKey(key);
        keys.put(key, made);
        return made;
    }

    /** Nothing is known of it any more. */
    void forgetKey(long key) {
        keys.remove(key);
        lastKey = null;
    }

    /** So many bytes more are under way; negative: have arrived. */
    void onMoving(long bytes) {
        movingBytes += bytes;
    }

    /** Whether so many bytes more may be under way. */
    boolean hasRoom(long bytes, long window) {
        return movingBytes == 0 || movingBytes + bytes <= window;
    }
}
