package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.transport.core.TableConnection;

/** One connection, or the attempt at one. */
final class PortalsConnection extends TableConnection {
    // What the peer sent before its end: the tails of both queues then.
    private long messageMark;
    private long notifyMark;

    private int question;

    PortalsConnection(int index) {
        super(index);
    }

    @Override
    protected void reset() {
        super.reset();
        question = 0;
    }

    /** From now on the peer is asked this; 0: nothing. */
    void ask(int question) {
        this.question = question;
    }

    /** What the peer has not answered; 0: nothing. */
    int question() {
        return question;
    }

    /**
     * The peer has taken so many, modulo 2^16. Returned credits and messages come through two
     * queues: a number that is behind the present one is old news.
     *
     * @return false if it cannot have
     */
    boolean onTaken(int taken) {
        short more = (short) (taken - takenByPeer);
        return onTakenByPeer(takenByPeer + Math.max(0, more));
    }

    /**
     * Whether an event comes from the peer, in the incarnation that this connection is bound to.
     */
    boolean isFrom(PortalsEventFlyweight event) {
        return isWith(event.process(), event.incarnation());
    }

    /** The peer sends no more than what the queues have up to here. */
    void markEnd(long messageTail, long notifyTail) {
        messageMark = messageTail;
        notifyMark = notifyTail;
    }

    /** Whether both queues were read up to the peer's end. */
    boolean isRead(long messageHead, long notifyHead) {
        return messageHead - messageMark >= 0 && notifyHead - notifyMark >= 0;
    }
}
