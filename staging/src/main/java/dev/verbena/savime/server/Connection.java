package dev.verbena.savime.server;

import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import java.util.ArrayDeque;
import org.agrona.concurrent.UnsafeBuffer;

/** A connection of a client, by TCP or by a transport. A session has one for each I/O thread. */
final class Connection {
    /** Replies that wait; a client that asks for more than it reads is dropped. */
    static final int REPLIES_MAX = 1024;

    /** Notifications leave so much room for replies, which the client cannot do without. */
    static final int NOTIFICATIONS_SENT_MAX = REPLIES_MAX / 2;

    /** Notifications that wait behind the replies; with more the client is dropped. */
    static final int NOTIFICATIONS_MAX = 8192;

    private static final int REQUESTS_MAX = 256;

    /** A block that was asked for and cannot be granted yet. */
    record Asked(long request, long dataset, long offset, int length, int blockNo, long sinceNs) {}

    /** How a dataset ended, to be sent when the client has taken what was sent before. */
    private record Notification(long dataset, DatasetState state, int code, String text) {}

    final MessageQueue out = new MessageQueue(REPLIES_MAX);
    private final ArrayDeque<Notification> notifications = new ArrayDeque<>();
    private final StgFlyweight unread = new StgFlyweight();
    final ArrayDeque<Asked> asked = new ArrayDeque<>();
    final boolean isOneSided;
    Session session;
    int blockMax;
    private int window;
    private int features;
    private int grantCount;
    long heardNs;
    boolean isEnding;

    /** It does not read what it is sent: it is to be dropped. */
    boolean isOverrun;

    /**
     * @param isOneSided by a transport, not by TCP
     */
    Connection(boolean isOneSided, long nowNs) {
        this.isOneSided = isOneSided;
        this.heardNs = nowNs;
    }

    /** HELLO was accepted. */
    void greeted(Session of, int largestBlock, int grants, int agreed) {
        session = of;
        blockMax = largestBlock;
        window = grants;
        features = agreed;
    }

    boolean has(int feature) {
        return (features & feature) != 0;
    }

    /**
     * A reply with this request's number, to be filled in. Where too many wait it goes nowhere, and
     * the client is to be dropped.
     */
    StgFlyweight reply(int type, long request, int status) {
        isOverrun |= out.isFull();
        StgFlyweight reply =
                isOverrun
                        ? unread.begin(new UnsafeBuffer(new byte[StgFlyweight.LENGTH_MAX]), 0, type)
                        : out.add(type);
        return reply.session(session == null ? 0 : session.id).request(request).status(status);
    }

    /** Tells the client how a dataset ended, now or when it has taken its replies. */
    void notify(long dataset, DatasetState state, int code, String text) {
        isOverrun |= notifications.size() == NOTIFICATIONS_MAX;
        if (!isOverrun) {
            notifications.add(new Notification(dataset, state, code, StgFlyweight.cut(text)));
            sendNotifications();
        }
    }

    /** Sends what waits and fits; work done. */
    int sendNotifications() {
        int work = 0;
        while (!notifications.isEmpty() && out.size() < NOTIFICATIONS_SENT_MAX) {
            Notification next = notifications.remove();
            reply(StgType.DATASET_EVENT, 0, next.code)
                    .state(next.dataset, next.state.code(), next.code)
                    .eventText(next.text);
            work++;
        }
        return work;
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

    /** It is dropped once its replies are sent. */
    void end() {
        isEnding = true;
    }
}
