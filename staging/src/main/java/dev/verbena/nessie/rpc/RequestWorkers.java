package dev.verbena.nessie.rpc;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.staging.Monitors;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;

/**
 * A bounded pool of handlers beside the server's thread: calls go one way, what handlers ask for
 * goes the other. A worker is an agent; each runs on a thread of its own. Thread-safe.
 */
final class RequestWorkers implements HandlerPort {
    private static final long WAIT_NS = Long.MAX_VALUE / 4;

    private final NntiTransport transport;
    private final NanoClock clock;
    private final ErrorHandler errorHandler;
    private final int count;
    private final AtomicInteger taken = new AtomicInteger();
    private final ManyToManyConcurrentArrayQueue<RpcCall> calls;
    private final ManyToOneConcurrentArrayQueue<Asked> commands;
    private volatile Runnable wakeup = () -> {};
    private volatile boolean isClosed;

    /** A handler waits for this. */
    private static final class Asked {
        private final RpcCall call;
        private RpcResult result;

        Asked(RpcCall call) {
            this.call = call;
        }

        synchronized void end(RpcResult how) {
            result = how;
            notifyAll();
        }

        boolean isOver() {
            return result != null;
        }
    }

    RequestWorkers(
            NntiTransport transport,
            NanoClock clock,
            int count,
            int pendingMax,
            ErrorHandler errorHandler) {
        this.transport = transport;
        this.clock = clock;
        this.count = count;
        this.errorHandler = errorHandler;
        this.calls = new ManyToManyConcurrentArrayQueue<>(Math.max(2, 2 * count));
        this.commands = new ManyToOneConcurrentArrayQueue<>(Math.max(2, pendingMax + count));
    }

    void onOffer(Runnable action) {
        wakeup = action;
    }

    /** Calls stay in the server's queue, in its order, until a handler is about to be free. */
    boolean hasRoom() {
        return taken.get() < 2 * count;
    }

    void offer(RpcCall call) {
        taken.incrementAndGet();
        calls.offer(call);
        wakeup.run();
    }

    ProtocolAgent worker() {
        return new Worker();
    }

    /** On the server's thread: what handlers ask for. */
    int takeCommands(RpcServer server) {
        int work = 0;
        Asked asked;
        while (work <= commands.capacity() && (asked = commands.poll()) != null) {
            execute(server, asked);
            work++;
        }
        return work;
    }

    private static void execute(RpcServer server, Asked asked) {
        RpcCall call = asked.call;
        if (call.command() == RpcCall.Command.REPLY) {
            asked.end(server.sendReply(call));
            return;
        }
        RpcResult started =
                server.start(
                        call,
                        call.command(),
                        call.local(),
                        call.offset(),
                        call.length(),
                        call.dataOffset(),
                        asked::end);
        if (started != RpcResult.OK) {
            asked.end(started);
        }
    }

    @Override
    public RpcResult transfer(
            RpcCall call,
            RpcCall.Command command,
            NntiBuffer local,
            long offset,
            long length,
            long dataOffset) {
        call.command(command, local, offset, length, dataOffset);
        return ask(call);
    }

    @Override
    public RpcResult reply(RpcCall call) {
        call.command(RpcCall.Command.REPLY, null, 0, 0, 0);
        return ask(call);
    }

    private RpcResult ask(RpcCall call) {
        Asked asked = new Asked(call);
        if (isClosed || !commands.offer(asked)) {
            return RpcResult.ECANCELED;
        }
        transport.wakeup();
        Monitors.await(
                asked,
                clock,
                () -> asked.isOver() || isClosed,
                WAIT_NS,
                (text, cause) -> new IllegalStateException(text, cause));
        synchronized (asked) {
            return asked.isOver() ? asked.result : RpcResult.ECANCELED;
        }
    }

    void close() {
        isClosed = true;
    }

    private final class Worker implements ProtocolAgent {
        @Override
        public int doWork() {
            RpcCall call = calls.poll();
            if (call == null) {
                return 0;
            }
            try {
                ServerDispatch.handle(call, errorHandler);
            } finally {
                taken.decrementAndGet();
                transport.wakeup();
            }
            return 1;
        }

        @Override
        public long nextDeadlineNs() {
            return NO_DEADLINE;
        }

        @Override
        public String roleName() {
            return "nessie-worker";
        }
    }
}
