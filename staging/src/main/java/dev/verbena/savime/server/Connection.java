package dev.verbena.savime.server;

import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import java.util.ArrayDeque;

/** A connection of a client, by TCP or by a transport. A session has one for each I/O thread. */
final class Connection {
    /** Replies that wait; a client that asks for more than it reads is dropped. */
    private static final int REPLIES_MAX = 1024;

    private static final int REQUESTS_MAX = 256;

    /** A block that was asked for and cannot be granted yet. */
    record Asked(long request, long dataset, long offset, int length, int blockNo) {}

    private final MessageQueue out = new MessageQueue(REPLIES_MAX);
    private final ArrayDeque<Asked> asked = new ArrayDeque<>();
    private final boolean isOneSided;
    private final long peer;
    private Session session;
    private int blockMax;
    private int window;
    private int features;
    private int grantCount;
    private long heardNs;
    private boolean isEnding;

    /**
     * @param peer the transport's handle; 0 by TCP
     */
    Connection(long peer, long nowNs) {
        this.peer = peer;
        this.isOneSided = peer != 0;
        this.heardNs = nowNs;
    }

    MessageQueue out() {
        return out;
    }

    long peer() {
        return peer;
    }

    boolean isOneSided() {
        return isOneSided;
    }

    Session session() {
        return session;
    }

    /** HELLO was accepted. */
    void greeted(Session of, int largestBlock, int grants, int agreed) {
        session = of;
        blockMax = largestBlock;
        window = grants;
        features = agreed;
    }

    int blockMax() {
        return blockMax;
    }

    boolean has(int feature) {
        return (features & feature) != 0;
    }

    /** A reply with this request's number, to be filled in. */
    StgFlyweight reply(int type, int length, long request, int status) {
        if (out.isFull()) {
            throw new IllegalArgumentException("it does not read its replies");
        }
        return out.add(type, length)
                .session(session == null ? 0 : session.id())
                .request(request)
                .status(status);
    }

    ArrayDeque<Asked> asked() {
        return asked;
    }

    void ask(Asked block) {
        if (asked.size() == REQUESTS_MAX) {
            throw new IllegalArgumentException("too many blocks are asked for");
        }
        asked.add(block);
    }

    boolean mayGrant() {
        return grantCount < window;
    }

    void granted(int change) {
        grantCount += change;
    }

    void heard(long nowNs) {
        heardNs = nowNs;
    }

    long heardNs() {
        return heardNs;
    }

    /** It is dropped once its replies are sent. */
    void end() {
        isEnding = true;
    }

    boolean isEnding() {
        return isEnding;
    }
}
