package dev.verbena.nessie.nnti;

import dev.verbena.agent.Await;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Two NNTI transports on one thread, connected. */
public final class NntiPair implements AutoCloseable {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final String scheme;
    private final NntiOptions options;
    private final TransportContext context = context();
    private final List<NntiTransport> others = new ArrayList<>();

    final NntiTransport left;
    final NntiTransport right;
    final NntiPeer toRight;

    NntiPair(String scheme, NntiOptions options) {
        this.scheme = scheme;
        this.options = options;
        left = new NntiTransport(Transports.open(scheme, context), options);
        right = new NntiTransport(Transports.open(scheme, context), options);
        toRight = left.startConnect(right.url(), 10_000_000_000L);
        pump("connected", () -> toRight.state() == NntiPeer.State.READY);
    }

    /** Of a job of its own. */
    public static TransportContext context() {
        String job = "nessie" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
        return new TransportContext().job(job);
    }

    /** Another transport, which is pumped, too. */
    NntiTransport another() {
        NntiTransport made = new NntiTransport(Transports.open(scheme, context), options);
        others.add(made);
        return made;
    }

    /** Of the same job, for a process that need not speak this protocol. */
    Transport raw() {
        return Transports.open(scheme, context);
    }

    void pump(String what, BooleanSupplier condition) {
        Await.until(
                () -> what,
                () ->
                        left.progress()
                                + right.progress()
                                + others.stream().mapToInt(NntiTransport::progress).sum(),
                condition);
    }

    @Override
    public void close() {
        others.forEach(NntiTransport::close);
        left.close();
        right.close();
    }
}
