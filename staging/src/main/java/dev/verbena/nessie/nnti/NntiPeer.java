package dev.verbena.nessie.nnti;

import java.net.URI;
import java.util.ArrayDeque;
import org.agrona.collections.LongArrayQueue;

/** A process at the other end of a connection. Owned by the transport's thread. */
public final class NntiPeer {
    /** Life of a connection. */
    public enum State {
        /** Its greeting has not come yet. */
        CONNECTING,
        /** Can be used. */
        READY,
        /** Ended, or never came about: see {@link NntiPeer#result()}. */
        CLOSED
    }

    final long context;
    private final URI url;
    final BufferHandle variables = new BufferHandle();

    /** That wait to be posted, in the order of their issue. */
    final ArrayDeque<WorkRequest> waiting = new ArrayDeque<>();

    /** That wait until it takes messages: the number of its send, and the code. */
    final LongArrayQueue answers = new LongArrayQueue();

    long connection;
    private State state = State.CONNECTING;
    private NntiResult result = NntiResult.OK;
    private String reason = "";
    private long id;

    NntiPeer(long context, URI url) {
        this.context = context;
        this.url = url;
    }

    /** Identifies the process; 0 before {@link State#READY}. */
    public long id() {
        return id;
    }

    /** Address in the form of the transport contract. */
    public URI url() {
        return url;
    }

    /** See {@link State}. */
    public State state() {
        return state;
    }

    /** Why it is closed; {@code OK} before, and when it was ended in order. */
    public NntiResult result() {
        return result;
    }

    /** What the transport said about that, for people. */
    public String reason() {
        return reason;
    }

    /** Variables that atomic operations reach there. */
    public int variableCount() {
        return (int) Math.min(variables.length() / Long.BYTES, Integer.MAX_VALUE);
    }

    void connection(long handle) {
        connection = handle;
    }

    void ready(long itsId) {
        id = itsId;
        state = State.READY;
    }

    void closed(NntiResult why, String text) {
        state = State.CLOSED;
        result = why;
        reason = text;
    }
}
