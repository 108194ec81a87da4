package dev.verbena.transport.core;

import static dev.verbena.transport.core.TableConnection.CONNECTED;
import static dev.verbena.transport.core.TableConnection.CONNECTING;
import static dev.verbena.transport.core.TableConnection.ENDED;
import static dev.verbena.transport.core.TableConnection.ENDING;
import static dev.verbena.transport.core.TableConnection.FREE;
import static dev.verbena.transport.core.TableConnection.OFFERED;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The connections of a transport whose peers exchange records: slots and the receive room that each
 * reserves, records that are sent again, timeouts, and the watch over the peers' processes. A
 * provider says how one record travels and what a connection holds. One thread.
 *
 * @param <C> the provider's connection
 */
public abstract class RecordConnections<C extends TableConnection> extends ConnectionLife<C> {
    /** The peer has it. */
    protected static final int DELIVERED = 0;

    /** Nothing happened; a later attempt may succeed. */
    protected static final int LATER = 1;

    /** The peer's process is gone. */
    protected static final int GONE = 2;

    /** The provider has failed the connection. */
    protected static final int FAILED = 3;

    /** State of a process: it runs. */
    protected static final int RUNNING = 0;

    /** State of a process: it is stopped. */
    protected static final int STOPPED = 1;

    /** State of a process: it is dead, or another incarnation is in its place. */
    protected static final int DEAD = 2;

    private static final long RETRY_NS = 500_000L;
    private static final long WATCH_MIN_NS = 5_000_000L;
    private static final long WATCH_MAX_NS = 200_000_000L;

    /** Where their events wait for poll. */
    protected final EventRing ring;

    /** Of the transport. */
    protected final TransportContext context;

    private final CreditReturns<C> credits = new CreditReturns<>(this);
    private final long watchNs;
    private long nextWatchNs;
    private long nextTimerNs;

    /** For a transport that opens now. */
    protected RecordConnections(
            HandleTable<C> table, EventRing ring, TransportContext context, long nowNs) {
        super(table);
        this.ring = ring;
        this.context = context;
        this.watchNs = Math.max(WATCH_MIN_NS, Math.min(WATCH_MAX_NS, context.peerTimeoutNs() / 4));
        this.nextWatchNs = nowNs + watchNs;
        this.nextTimerNs = nextWatchNs;
    }

    // ---- what a provider says ----

    /**
     * Sends a record, if it can be sent now.
     *
     * @return {@link #DELIVERED}, {@link #LATER}, {@link #GONE} or {@link #FAILED}
     */
    protected abstract int trySend(C c, int record);

    /** Sends a record once, whatever becomes of it. */
    protected abstract void post(C c, int record);

    /**
     * Tells the peer how many of its messages and notifications were taken.
     *
     * @return {@link #DELIVERED}, {@link #LATER} or {@link #GONE}
     */
    protected abstract int returnCredits(C c);

    /** State of the process to which the connection is bound. */
    protected abstract int peerState(C c);

    /** The connection was bound to a process. */
    protected abstract void onBound(C c);

    /** Gives back what the connection holds; its slot is freed next. */
    protected abstract void release(C c);

    /** No connection is bound to this process any more. */
    protected void onUnused(long process) {}

    /** Time has passed. */
    protected void progress() {}

    /** The peers are about to be looked at. */
    protected abstract void onWatch(long nowNs);

    // ---- slots ----

    /** Returns credits to peers. */
    public final CreditReturns<C> credits() {
        return credits;
    }

    /** The connection with this handle in whatever state, or null. */
    public final C find(long handle) {
        return table.find(handle);
    }

    /** The connection in this slot, in whatever state. */
    public final C at(int index) {
        return table.at(index);
    }

    /** The connection with this handle if it is bound to this process, else null. */
    public final C find(long handle, long process, long incarnation) {
        C c = table.find(handle);
        return c != null && c.isWith(process, incarnation) ? c : null;
    }

    private C take() {
        int wanted = context.creditsPerConnection();
        return (table.count() + 1L) * wanted > context.receiveSlotCount() ? null : table.take();
    }

    @Override
    public final void free(C c) {
        long process = c.peerProcess;
        release(c);
        unpend(c);
        table.free(c);
        if (process != 0 && !isUsed(process)) {
            onUnused(process);
        }
    }

    /** Whether a connection is bound to this process. */
    protected final boolean isUsed(long process) {
        for (int i = 0; i < table.size(); i++) {
            if (table.at(i).peerProcess == process) {
                return true;
            }
        }
        return false;
    }

    /** From now on everything for this connection goes to one incarnation only. */
    protected final void bind(C c, long process, long incarnation) {
        for (int i = 0; i < table.size(); i++) {
            C other = table.at(i);
            if (other.peerProcess == process && other.peerIncarnation != incarnation) {
                lose(other, "its process was replaced by another incarnation");
            }
        }
        c.bind(process, incarnation);
        onBound(c);
    }

    // ---- how they begin ----

    /** A slot for an attempt to connect; null if there is none. */
    protected final C begin(URI uri, byte[] privateData, long userContext, long deadlineNs) {
        C c = take();
        if (c != null) {
            c.connecting(uri, privateData, userContext, deadlineNs);
            nextTimerNs = Deadlines.earlier(nextTimerNs, deadlineNs);
        }
        return c;
    }

    /**
     * Whether the incarnation that is wanted is there; the attempt fails otherwise.
     *
     * @param wanted 0: any
     * @param found 0: no process is there
     */
    protected final boolean isThere(C c, long wanted, long found, String place) {
        if (found == 0) {
            int status = wanted == 0 ? Status.NOT_LISTENING : Status.REFUSED;
            fail(c, status, "nobody is at " + place + " of " + c.uri);
            return false;
        }
        if (wanted != 0 && wanted != found) {
            fail(c, Status.REFUSED, c.uri + " is gone; at " + place + " is another incarnation");
            return false;
        }
        return true;
    }

    /** A slot for a connection that a peer asks for; null if there is none. */
    public final C offer(URI uri, long process, long incarnation) {
        C c = take();
        if (c != null) {
            c.offered(uri);
            bind(c, process, incarnation);
        }
        return c;
    }

    /** The user is to answer. */
    public final void tellOffer(C c, byte[] data) {
        int handle = c.handle;
        URI uri = c.uri;
        ring.add(
                handler ->
                        handler.onConnectRequest(
                                handle, uri, new UnsafeBuffer(data), 0, data.length));
    }

    /** The peer's answer is no. */
    public final void onRefused(C c, int status, String why) {
        if (c != null && c.state == CONNECTING) {
            fail(c, status, c.uri + why);
        }
    }

    /** The peer has disconnected. */
    public final void onDisconnect(C c) {
        if (c != null && c.state == CONNECTED) {
            end(c, false, null);
        } else if (c != null && (c.state == OFFERED || c.isQuietEnd)) {
            free(c); // both at once: the peer does not wait for ours
        }
    }

    @Override
    protected final void tell(Consumer<TransportHandler> event) {
        ring.add(event::accept);
    }

    // ---- records ----

    @Override
    protected final void send(C c) {
        int record = c.pendingRecord;
        switch (trySend(c, record)) {
            case DELIVERED -> sent(c, record);
            case GONE -> gone(c);
            case LATER -> soon();
            default -> {
                // it has failed
            }
        }
    }

    /** Tells every peer that this transport closes, as far as they can be told at once. */
    public final void closeAll() {
        for (int i = 0; i < table.size(); i++) {
            C c = table.at(i);
            if (c.state == CONNECTED && c.pendingRecord == 0) {
                post(c, DISCONNECT);
            } else if (c.state == OFFERED) {
                post(c, REJECT);
            } else if (c.pendingRecord != 0 && c.pendingRecord != CONNECT) {
                post(c, c.pendingRecord);
            }
        }
    }

    // ---- time ----

    /** When {@link #onTime} wants to be called at the latest. */
    public final long nextTimerNs() {
        return nextTimerNs;
    }

    /** The next {@link #onTime} looks at every connection. */
    protected final void soon() {
        nextTimerNs = nextWatchNs - watchNs;
    }

    /** Timeouts, records that could not be sent, and the watch over peers. */
    public final void onTime(long nowNs) {
        progress();
        if (nowNs - nextTimerNs < 0) {
            return;
        }
        boolean isWatching = nowNs - nextWatchNs >= 0;
        if (isWatching) {
            nextWatchNs = nowNs + watchNs;
            onWatch(nowNs);
        }
        nextTimerNs = nextWatchNs;
        for (int i = 0; i < table.size(); i++) {
            C c = table.at(i);
            if (c.state != FREE) {
                onTime(c, nowNs, isWatching);
            }
        }
        if (pendingCount() > 0) {
            nextTimerNs = Deadlines.earlier(nextTimerNs, nowNs + RETRY_NS);
        }
    }

    /** What may have become of a request that was not answered, and the remedy; may be empty. */
    protected String whyNoAnswer() {
        return "";
    }

    /** Why a peer that is {@link #STOPPED} for longer than the peer timeout is lost. */
    protected String whySilent() {
        return "its process has been stopped for longer than the peer timeout";
    }

    /** Such a peer learns why it was given up, where the provider's records can say it. */
    protected void tellSilent(C c) {
        tellGivenUp(c);
    }

    private void onTime(C c, long nowNs, boolean isWatching) {
        if (c.pendingRecord != 0) {
            send(c);
        }
        if (c.state == CONNECTING && c.hasDeadline) {
            if (c.deadlineNs - nowNs <= 0) {
                fail(c, Status.TIMED_OUT, c.uri + " did not answer in time" + whyNoAnswer());
            } else {
                nextTimerNs = Deadlines.earlier(nextTimerNs, c.deadlineNs);
            }
        }
        if (isWatching) {
            look(c, nowNs);
        }
    }

    /**
     * Looks whether the process of a connection still lives, and runs. One that is dead, replaced
     * or stopped for longer than the peer timeout is lost.
     */
    public final void look(C c, long nowNs) {
        if (!isWatched(c)) {
            return;
        }
        int state = peerState(c);
        long stoppedForNs = c.stoppedForNs(state == STOPPED, nowNs);
        if (state == DEAD) {
            lose(
                    c,
                    "its process is gone: at its address is nobody, or another, or a cut memory file");
        } else if (stoppedForNs >= context.peerTimeoutNs()) {
            lose(c, whySilent());
            tellSilent(c);
        }
    }

    private boolean isWatched(C c) {
        return c.peerIncarnation != 0
                && (c.state == CONNECTING
                        || c.state == OFFERED
                        || c.state == CONNECTED
                        || (c.state == ENDED && c.isQuietEnd));
    }

    /** A peer that goes on after it was given up must learn that, unless it has no room. */
    protected final void tellGivenUp(C c) {
        if (c.state == ENDING) {
            post(c, DISCONNECT);
        }
    }

    /** What is wrong with the peer, as error reports say it. */
    protected final void report(String what) {
        context.errorHandler().onError(new IllegalStateException(what));
    }
}
