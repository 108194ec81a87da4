package dev.verbena.dart;

import dev.verbena.dart.client.ClientEngine;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.Arguments;
import dev.verbena.transport.Transport;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.UnaryOperator;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The library in a compute process. Sends messages without waiting for them: a send posts a small
 * header and returns; the server reads the data later, while the process computes.
 *
 * <p>One thread, the one that connected, which also owns the transport. There is no hidden thread:
 * the client hears of completions whenever any of its methods is called. Data passed by reference
 * must stay untouched until the ticket is at least {@link TicketState#TRANSFERRED}.
 */
public final class DartClient implements AutoCloseable {
    /** Most bytes of a command and of its reply. */
    public static final int COMMAND_LENGTH_MAX = DartMetadata.LENGTH_MAX;

    private static final long COMMAND_TIMEOUT_NS = 10_000_000_000L;

    private final ClientEngine engine;

    private DartClient(Context context) {
        engine = new ClientEngine(context.settings());
    }

    /**
     * Registers with the service and waits until it can be used, for {@code bootTimeoutNs}, also
     * for a master, a receiver or room at a server that is not there yet. What waiting cannot mend,
     * as another transport than the master's, is thrown at once.
     *
     * @throws DartException {@link DartException.Code#NOT_BOOTSTRAPPED}, {@link
     *     DartException.Code#SERVER_UNREACHABLE}, {@link DartException.Code#RECEIVER_UNREACHABLE},
     *     {@link DartException.Code#SERVER_FULL}, {@link DartException.Code#INCOMPATIBLE}; nothing
     *     is left behind
     */
    public static DartClient connect(Context context) {
        DartClient client = start(context);
        try {
            client.engine.awaitConnected();
        } catch (RuntimeException e) {
            client.engine.abandon();
            throw e;
        }
        return client;
    }

    /**
     * As {@link #connect} without waiting: call {@link #progress()} until {@link #isConnected()}.
     */
    public static DartClient start(Context context) {
        return new DartClient(context);
    }

    /** True once messages can be sent, until the server is lost or the client closed. */
    public boolean isConnected() {
        return engine.isConnected();
    }

    /**
     * Hears of what happened and sends what is queued; bounded, never waits.
     *
     * @return amount of work done
     * @throws DartException if connecting has failed
     */
    public int progress() {
        return engine.progress();
    }

    /**
     * When {@link #progress()} has something to do although nothing comes, in the time of the
     * environment's clock; Long.MAX_VALUE: never. For who steps the client as part of an agent.
     */
    public long nextDeadlineNs() {
        return engine.nextDeadlineNs();
    }

    /** Id given by the master, unique over all servers; 0 before the client is connected. */
    public int clientId() {
        return engine.clientId();
    }

    /** Server that serves this process; 0 is the master, -1 before the client is connected. */
    public int serverId() {
        return engine.serverId();
    }

    /**
     * The transport, owned by the client's thread, for memory and for explanations.
     *
     * @throws IllegalStateException while it is not known, see {@link Context#transport}
     */
    public Transport transport() {
        return engine.transport();
    }

    /** Memory that can be sent by reference. Closed with the client if it is still open then. */
    public RegisteredRegion allocate(long length) {
        return engine.allocate(length);
    }

    /**
     * Sends by reference; waits while as many messages as allowed are in flight. The memory belongs
     * to the library until the ticket is {@link TicketState#TRANSFERRED}.
     *
     * @param metadata copied; the library sets its payload length and checksum; null: none
     * @throws DartException {@link DartException.Code#SERVER_UNREACHABLE} if the server is gone
     * @throws IllegalStateException after close, or for a closed region
     * @throws IllegalArgumentException for a range outside the region
     */
    public DartTicket send(
            RegisteredRegion region, long offset, long length, DartMetadata metadata, int tag) {
        return engine.send(region, offset, length, metadata, tag, Long.MAX_VALUE);
    }

    /**
     * As {@link #send(RegisteredRegion, long, long, DartMetadata, int)} with a limit to the wait.
     *
     * @throws DartException {@link DartException.Code#TIMEOUT}; nothing has been sent then
     */
    public DartTicket send(
            RegisteredRegion region,
            long offset,
            long length,
            DartMetadata metadata,
            int tag,
            long timeoutNs) {
        return engine.send(region, offset, length, metadata, tag, timeoutNs);
    }

    /** As {@link #send}, but null where that would wait. */
    public DartTicket trySend(
            RegisteredRegion region, long offset, long length, DartMetadata metadata, int tag) {
        return engine.trySend(region, offset, length, metadata, tag);
    }

    /**
     * Copies into memory of the library, then sends; the source may be changed at once. Waits like
     * {@link #send}. Copy buffers are kept and used again; the first sends of a length allocate.
     */
    public DartTicket sendCopy(
            DirectBuffer buffer, int offset, int length, DartMetadata metadata, int tag) {
        return engine.sendCopy(buffer, offset, length, metadata, tag, Long.MAX_VALUE);
    }

    /**
     * Whether a send by this thread now would wait. Exact: it is false if and only if a {@link
     * #trySend} that follows at once succeeds. Looks for news first; sends nothing, allocates
     * nothing.
     */
    public boolean wouldBlock() {
        return engine.wouldBlock();
    }

    /**
     * Waits until every message sent is confirmed or failed.
     *
     * @throws DartException {@link DartException.Code#TIMEOUT}
     */
    public void flush(long timeoutNs) {
        engine.flush(timeoutNs);
    }

    /**
     * Asks the server of this process for a service that its user has registered with {@code
     * DartServer.Context.commandHandler}, and waits for the answer. Allocates; meant for control,
     * not for data. Order with messages sent before is not promised.
     *
     * @param type which service, 0 or more
     * @param payload copied from {@code offset}, at most {@link #COMMAND_LENGTH_MAX} bytes
     * @return what the handler answered, the caller's own
     * @throws DartException {@link DartException.Code#COMMAND_FAILED} with the server's text if
     *     there is no such handler or it threw; {@link DartException.Code#TIMEOUT} or {@link
     *     DartException.Code#SERVER_UNREACHABLE} if no answer came: it may have been done or not,
     *     and is not repeated; {@link DartException.Code#SERVER_STOPPING}, or a text that says so,
     *     if it was not sent
     * @throws IllegalStateException in a handler of a ticket, while another command waits
     */
    public byte[] command(int type, DirectBuffer payload, int offset, int length, long timeoutNs) {
        Arguments.range("type", type, 0, Integer.MAX_VALUE);
        Arguments.range("length", length, 0, COMMAND_LENGTH_MAX);
        payload.boundsCheck(offset, length);
        return engine.command(type, payload, offset, length, timeoutNs);
    }

    /** As the other form, with the whole array and a limit of 10 s. */
    public byte[] command(int type, byte... payload) {
        return command(type, new UnsafeBuffer(payload), 0, payload.length, COMMAND_TIMEOUT_NS);
    }

    /**
     * Reports how long things took this process, for {@link DartServer#timings}: up to {@link
     * DartTimings#LENGTH} numbers whose meaning and unit are the users'. Waits for the server.
     *
     * @throws DartException as {@link #command(int, byte...)}
     */
    public void reportTimings(double... values) {
        Arguments.range("number of timings", values.length, 0, DartTimings.LENGTH);
        UnsafeBuffer payload = new UnsafeBuffer(new byte[Double.BYTES * values.length]);
        for (int i = 0; i < values.length; i++) {
            payload.putDouble(i * Double.BYTES, values[i], ByteOrder.LITTLE_ENDIAN);
        }
        engine.command(
                ControlFlyweight.COMMAND_TIMINGS,
                payload,
                0,
                payload.capacity(),
                COMMAND_TIMEOUT_NS);
    }

    /**
     * Stops all servers in order: they refuse new messages, deliver what they have and end. They
     * must allow it, see {@code DartServer.Context.stoppableByClients}. Returns when this process'
     * server knows of it. Confirm what was sent first ({@link #flush}): messages whose headers come
     * after it fail.
     *
     * @throws DartException {@link DartException.Code#COMMAND_FAILED} if that is not allowed, and
     *     as {@link #command(int, byte...)}
     */
    public void stopServers() {
        stop(0);
    }

    /**
     * As {@link #stopServers}, but they end at once, as {@link DartServer#stopNow} says: what is
     * not delivered is lost, and named by them. This process' server may be gone before it can
     * answer.
     *
     * @throws DartException as {@link #stopServers}; {@link DartException.Code#SERVER_UNREACHABLE}
     *     and {@link DartException.Code#SERVER_STOPPING} may mean that it has worked
     */
    public void stopServersNow() {
        stop(1);
    }

    private void stop(int payloadLength) {
        engine.command(
                ControlFlyweight.COMMAND_STOP_SERVERS,
                new UnsafeBuffer(new byte[payloadLength]),
                0,
                payloadLength,
                COMMAND_TIMEOUT_NS);
    }

    /**
     * Asks the server to pull nothing from this process for now, because the network is needed for
     * other things. A hint: what is being pulled is still pulled. Messages can be sent as before;
     * {@link #resume()}, and every call that waits for a transfer, ends it. Returns at once.
     */
    public void suspend() {
        engine.suspend(true);
    }

    /** Ends {@link #suspend()}. */
    public void resume() {
        engine.suspend(false);
    }

    /**
     * Hands over what the receiver has sent to this process, see {@link DartReceiver#send}, at most
     * {@code limit} messages; in the order sent, each once. Looks for news first. Never waits;
     * allocates nothing once the longest message has been seen.
     *
     * @return messages handed over
     * @throws IllegalStateException after close, without {@link Context#inbox}, or in the handler
     */
    public int receive(DartReverseHandler handler, int limit) {
        return engine.receive(handler, limit);
    }

    /**
     * As {@link #receive(DartReverseHandler, int)}, but waits for a first message.
     *
     * @return messages handed over; 0 if none came within the time
     */
    public int receive(DartReverseHandler handler, int limit, long timeoutNs) {
        return engine.receive(handler, limit, timeoutNs);
    }

    /** What sending cost; live. */
    public DartStatistics statistics() {
        return engine.statistics();
    }

    /** Messages accepted and neither confirmed nor failed, oldest first. Allocates. */
    public List<DartTicket> unconfirmed() {
        return engine.unconfirmed();
    }

    /** {@link #close(long)} with the context's {@code closeTimeoutNs}. */
    @Override
    public void close() {
        engine.close(-1);
    }

    /**
     * Waits until every message is confirmed or failed, at most this long, says goodbye and frees
     * everything. Idempotent; afterwards every send throws {@link IllegalStateException}.
     *
     * @throws DartException {@link DartException.Code#UNCONFIRMED} listing each message that was
     *     not confirmed; everything is freed then too
     */
    public void close(long timeoutNs) {
        engine.close(timeoutNs);
    }

    /** How to connect. Fluent; checked when it is used. */
    public static final class Context extends ServiceContext<Context> {
        private int rank;
        private int applicationId;
        private int rankCount;
        private int inboxSlots;
        private int inboxMessageMax = 64 << 20;
        private int maxInFlight = 1;
        private int unconfirmedMax = 1024;
        private long headerTimeoutNs = 1_000_000_000L;
        private int headerTries = 5;
        private boolean isReassigned;
        private boolean isChecksummed;
        private boolean isVerifying;
        private boolean isTicketPooled;
        private boolean isDistribution = true;
        private UnaryOperator<String> variables;

        /** Everything at its default. */
        public Context() {}

        /** Rank of this process, unique within its application id. */
        public Context rank(int rank) {
            this.rank = rank;
            return this;
        }

        /**
         * Which of several applications that share the servers, 0 to 2047; 0 by default. 2047 is
         * for processes that only command, such as {@code dart stop}: they are registered although
         * there is no receiver.
         */
        public Context applicationId(int applicationId) {
            this.applicationId = applicationId;
            return this;
        }

        /**
         * How many ranks this application has; written into each message that does not say it
         * itself, so that a receiver knows when a step is complete. 0 (default): not said.
         */
        public Context rankCount(int rankCount) {
            this.rankCount = rankCount;
            return this;
        }

        /**
         * Slots of 64 KiB for what a receiver sends to this process; 0 (default): nothing can be
         * sent to it. 16 are enough for most; more help where long messages meet a process that
         * looks for them seldom.
         */
        public Context inbox(int slots) {
            this.inboxSlots = slots;
            return this;
        }

        /** Longest message that this process takes from a receiver; 64 MiB. */
        public Context inboxMessageMax(int inboxMessageMax) {
            this.inboxMessageMax = inboxMessageMax;
            return this;
        }

        /** Messages that may be in flight before a send waits; 1 as in the paper, up to 64. */
        public Context maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        /** Messages that may be unconfirmed before a send waits; a power of two; 1024. */
        public Context unconfirmedMax(int unconfirmedMax) {
            this.unconfirmedMax = unconfirmedMax;
            return this;
        }

        /**
         * Whether {@link DartClient#statistics()} has the distribution of each time (default),
         * which takes 45 KiB, or count, sum and maximum only: for very many clients in one process.
         */
        public Context distributions(boolean isDistribution) {
            this.isDistribution = isDistribution;
            return this;
        }

        /** After this long without a sign of the server a header is sent again; 1 s. */
        public Context headerTimeoutNs(long headerTimeoutNs) {
            this.headerTimeoutNs = headerTimeoutNs;
            return this;
        }

        /** Times a header is sent before the message fails with HEADER_LOST; 5. */
        public Context headerTries(int headerTries) {
            this.headerTries = headerTries;
            return this;
        }

        /**
         * Go on with another server when this client's dies: the master names one, and every
         * message that is not confirmed is sent again; the receiver takes each once. Memory passed
         * by reference then stays the library's until the message is {@link TicketState#STREAMED},
         * as it may have to be read twice; tickets are not {@code TRANSFERRED} before. Copies are
         * kept as long, up to {@code unconfirmedMax} of them. If no other server is found within
         * {@code bootTimeoutNs} the open messages fail. Off.
         */
        public Context reassign(boolean isReassigned) {
            this.isReassigned = isReassigned;
            return this;
        }

        /** Give a checksum of the data with each message; the receiver compares. Off. */
        public Context checksum(boolean isChecksummed) {
            this.isChecksummed = isChecksummed;
            return this;
        }

        /**
         * For finding errors: take a checksum of memory passed by reference when it is sent and
         * compare when the ticket gives it back. A program that changed it in between gets a {@link
         * DartException.Code#BUFFER_CHANGED} naming the message from the next call. Reads
         * everything twice. Off.
         */
        public Context verifyUnchanged(boolean isVerifying) {
            this.isVerifying = isVerifying;
            return this;
        }

        /** Use tickets again once they are final and {@link DartTicket#release}d. Off. */
        public Context pooledTickets(boolean isTicketPooled) {
            this.isTicketPooled = isTicketPooled;
            return this;
        }

        /** Where environment variables are looked up; null (default): in the environment. */
        public Context variables(UnaryOperator<String> variables) {
            this.variables = variables;
            return this;
        }

        ClientSettings settings() {
            return new ClientSettings(
                    service(""),
                    rank,
                    applicationId,
                    rankCount,
                    inboxSlots,
                    inboxMessageMax,
                    maxInFlight,
                    unconfirmedMax,
                    headerTimeoutNs,
                    headerTries,
                    isReassigned,
                    isChecksummed,
                    isVerifying,
                    isTicketPooled,
                    isDistribution,
                    variables);
        }
    }
}
