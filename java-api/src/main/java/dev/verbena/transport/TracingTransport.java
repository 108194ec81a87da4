package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.agrona.DirectBuffer;

/**
 * Writes a line for every call and every event of another transport.
 *
 * <pre>
 * 1203 call put connection=3 region=7 offset=0 target=RemoteDescriptor{...} targetOffset=8 length=64 context=5 flags=0 = ACCEPTED
 * 2410 event completion connection=3 operation=put context=5 status=OK value=64
 * </pre>
 *
 * <p>The first number is the transport's time since the trace began, nanoseconds. Polls that
 * deliver nothing leave no line. Allocates for every line; same thread rules as the transport
 * within.
 */
public final class TracingTransport extends ForwardingTransport {
    private final Consumer<String> sink;
    private final long startNs;
    private final EventTracer tracer = new EventTracer();

    /**
     * Traces {@code delegate}, which is closed with this.
     *
     * @param sink gets each line without a line end, on the thread of the call; {@code wakeup} and
     *     {@code close} may come from any thread
     */
    public TracingTransport(Transport delegate, Consumer<String> sink) {
        super(delegate);
        this.sink = sink;
        this.startNs = delegate.nanoTime();
    }

    private void line(String text) {
        sink.accept(delegate.nanoTime() - startNs + " " + text);
    }

    private int call(String text, LongSupplier call) {
        return (int) callLong(text, call);
    }

    private long callLong(String text, LongSupplier call) {
        try {
            long answer = call.getAsLong();
            line("call " + text + " = " + answerName(answer));
            return answer;
        } catch (RuntimeException e) {
            line("call " + text + " threw " + e);
            throw e;
        }
    }

    private void run(String text, Runnable call) {
        call(
                text,
                () -> {
                    call.run();
                    return ACCEPTED;
                });
    }

    /** Name of an answer of a posting call, for messages to people. */
    static String answerName(long answer) {
        if (answer > 0) {
            return Long.toString(answer);
        }
        return switch ((int) answer) {
            case ACCEPTED -> "ACCEPTED";
            case BACK_PRESSURED -> "BACK_PRESSURED";
            case NOT_CONNECTED -> "NOT_CONNECTED";
            case CLOSED -> "CLOSED";
            case TOO_LONG -> "TOO_LONG";
            case NOT_SUPPORTED -> "NOT_SUPPORTED";
            default -> Long.toString(answer);
        };
    }

    private static String operation(int operation, long connection, long context, int flags) {
        return "%s connection=%s context=%s flags=%s"
                .formatted(
                        Operation.name(operation),
                        connection,
                        context,
                        (flags & FENCE) != 0 ? "FENCE" : Integer.toString(flags));
    }

    private static String vector(String operation, TransferVector vector, RemoteDescriptor remote) {
        StringBuilder text = new StringBuilder(operation).append(" remote=").append(remote);
        for (int i = 0; i < vector.count(); i++) {
            text.append(" [region=")
                    .append(vector.region(i).id())
                    .append(" offset=")
                    .append(vector.offset(i))
                    .append(" remoteOffset=")
                    .append(vector.remoteOffset(i))
                    .append(" length=")
                    .append(vector.length(i))
                    .append(']');
        }
        return text.toString();
    }

    @Override
    public String explain() {
        return "traced: " + delegate.explain();
    }

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        RegisteredRegion[] made = new RegisteredRegion[1];
        call(
                "allocate length=" + length + " rights=" + rights,
                () -> {
                    made[0] = delegate.allocate(length, rights);
                    return made[0].id();
                });
        return made[0];
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        RegisteredRegion[] made = new RegisteredRegion[1];
        call(
                "register length=" + memory.length() + " rights=" + rights,
                () -> {
                    made[0] = delegate.register(memory, rights);
                    return made[0].id();
                });
        return made[0];
    }

    @Override
    public void listen() {
        run("listen", delegate::listen);
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        return callLong(
                "connect peer=%s privateData=%s context=%s timeoutNs=%s"
                        .formatted(peer, length, context, timeoutNs),
                () -> delegate.connect(peer, privateData, offset, length, context, timeoutNs));
    }

    @Override
    public int accept(long connection, long context) {
        return call(
                "accept connection=" + connection + " context=" + context,
                () -> delegate.accept(connection, context));
    }

    @Override
    public int reject(long connection) {
        return call("reject connection=" + connection, () -> delegate.reject(connection));
    }

    @Override
    public int disconnect(long connection) {
        return call("disconnect connection=" + connection, () -> delegate.disconnect(connection));
    }

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        return call(
                "%s region=%s offset=%s length=%s"
                        .formatted(
                                operation(Operation.SEND, connection, context, flags),
                                source.id(),
                                offset,
                                length),
                () -> super.send(connection, source, offset, length, context, flags));
    }

    @Override
    protected int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags) {
        return call(
                operation(operation, connection, context, flags)
                        + (operation == Operation.PUT_NOTIFY ? " tag=" + tag : "")
                        + " region="
                        + local.id()
                        + " offset="
                        + offset
                        + " remote="
                        + remote
                        + " remoteOffset="
                        + remoteOffset
                        + " length="
                        + length,
                () ->
                        super.transfer(
                                operation,
                                connection,
                                local,
                                offset,
                                remote,
                                remoteOffset,
                                length,
                                tag,
                                context,
                                flags));
    }

    @Override
    protected int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        return call(
                vector(operation(operation, connection, context, flags), vector, remote),
                () -> super.transfer(operation, connection, vector, remote, context, flags));
    }

    @Override
    protected int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags) {
        return call(
                "%s remote=%s remoteOffset=%s%s"
                        .formatted(
                                operation(operation, connection, context, flags),
                                target,
                                targetOffset,
                                operation == Operation.FETCH_ADD
                                        ? " delta=" + operand
                                        : " expected=" + operand + " update=" + update),
                () ->
                        super.atomic(
                                operation,
                                connection,
                                target,
                                targetOffset,
                                operand,
                                update,
                                context,
                                flags));
    }

    @Override
    public void retain(long messageToken) {
        run("retain token=" + messageToken, () -> delegate.retain(messageToken));
    }

    @Override
    public void release(long messageToken) {
        run("release token=" + messageToken, () -> delegate.release(messageToken));
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        requireHandler(handler);
        TransportHandler outer = tracer.handler;
        tracer.handler = handler;
        try {
            int count = delegate.poll(tracer, limit);
            if (count < 0) {
                line("call poll limit=" + limit + " = " + answerName(count));
            }
            return count;
        } catch (RuntimeException e) {
            line("call poll limit=" + limit + " threw " + e);
            throw e;
        } finally {
            tracer.handler = outer;
        }
    }

    @Override
    public void wakeup() {
        run("wakeup", delegate::wakeup);
    }

    @Override
    public void close() {
        run("close", delegate::close);
    }

    private final class EventTracer implements TransportHandler {
        private TransportHandler handler;

        private void event(String name, long connection, long context, String more) {
            line("event " + name + " connection=" + connection + " context=" + context + more);
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            event(
                    "completion",
                    connection,
                    context,
                    " operation=%s status=%s value=%s"
                            .formatted(Operation.name(operation), Status.name(status), value));
            handler.onCompletion(connection, operation, context, status, value);
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            event("message", connection, context, " length=" + length + " token=" + token);
            handler.onMessage(connection, context, buffer, offset, length, token);
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            event(
                    "notify",
                    connection,
                    context,
                    " tag=%s region=%s offset=%s length=%s"
                            .formatted(tag, regionId, offset, length));
            handler.onNotify(connection, context, tag, regionId, offset, length);
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            line(
                    "event connectRequest connection=%s peer=%s privateData=%s"
                            .formatted(connection, peer, length));
            handler.onConnectRequest(connection, peer, privateData, offset, length);
        }

        @Override
        public void onConnected(long connection, long context) {
            event("connected", connection, context, "");
            handler.onConnected(connection, context);
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            String more = " status=" + Status.name(status) + " reason=" + reason;
            event("connectFailed", connection, context, more);
            handler.onConnectFailed(connection, context, status, reason);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            event("disconnected", connection, context, "");
            handler.onDisconnected(connection, context);
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            event("peerLost", connection, context, " reason=" + reason);
            handler.onPeerLost(connection, context, reason);
        }
    }
}
