package dev.verbena.nessie.rpc;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.staging.Monitors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.ManyToManyConcurrentArrayQueue;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;
import org.agrona.concurrent.NanoClock;

/**
 * A bounded pool of handlers beside the server's thread: calls go one way, what handlers ask for
 * goes the other. Each of its threads runs this one agent. Thread-safe.
 */
final class RequestWorkers implements ProtocolAgent {
    private static final long WAIT_NS = Long.MAX_VALUE / 4;

    private final RpcServer server;
    private final NanoClock clock;
    private final int count;
    private final AtomicInteger taken = new AtomicInteger();
    private final ManyToManyConcurrentArrayQueue<RpcCall> calls;
    private final ManyToOneConcurrentArrayQueue<RpcCall> commands;
    private final Runnable wakeup;
    private volatile boolean isClosed;

    RequestWorkers(RpcServer server, NanoClock clock, Runnable wakeup) {
        this.server = server;
        this.clock = clock;
        this.count = server.options.threads();
        this.wakeup = wakeup;
        this.calls = new ManyToManyConcurrentArrayQueue<>(Math.max(2, 2 * count));
        int pendingMax = server.options.pendingMax();
        this.commands = new ManyToOneConcurrentArrayQueue<>(Math.max(2, pendingMax + count));
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

    /** On the server's thread: does what handlers ask for; work done. */
    int takeCommands() {
        return commands.drain(RpcCall::execute, commands.capacity());
    }

    /** On a handler's thread: has the server's thread do what the call says, and waits. */
    RpcResult ask(RpcCall call) {
        call.answer(null);
        if (isClosed || !commands.offer(call)) {
            return RpcResult.ECANCELED;
        }
        server.transport.wakeup();
        BooleanSupplier isOver = () -> call.answer() != null || isClosed;
        Monitors.await(call, clock, isOver, WAIT_NS, IllegalStateException::new);
        RpcResult answer = call.answer();
        return answer == null ? RpcResult.ECANCELED : answer;
    }

    void close() {
        isClosed = true;
    }

    @Override
    public int doWork() {
        RpcCall call = calls.poll();
        if (call == null) {
            return 0;
        }
        try {
            call.handle();
        } finally {
            taken.decrementAndGet();
            server.transport.wakeup();
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
