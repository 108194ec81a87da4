package dev.verbena.nessie.rpc;

import dev.verbena.agent.Await;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPair;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/** A server and clients on one thread, stepped in turn. */
final class RpcPair implements AutoCloseable {
    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    final TransportContext context = NntiPair.context();
    final RpcEndpoint serving;
    final RpcServer server;
    private final String scheme;
    private final List<RpcEndpoint> clients = new ArrayList<>();

    RpcPair(String scheme, RpcServerOptions options) {
        this.scheme = scheme;
        serving = endpoint();
        server = serving.serve(options);
    }

    private RpcEndpoint endpoint() {
        return new RpcEndpoint(
                new NntiTransport(Transports.open(scheme, context), NntiOptions.ONE_SIDED),
                errors::add);
    }

    /** Connected; knows operations 1 to 9. */
    RpcEndpoint client() {
        RpcEndpoint made = endpoint();
        clients.add(made);
        for (int i = 1; i < 10; i++) {
            made.client().register(i);
        }
        return made;
    }

    /** Finds the server as {@code getService} does, without blocking. */
    RpcService service(RpcEndpoint of) {
        ServiceSearch search = of.client().search(serving.transport().url(), 10_000);
        pump(
                "service",
                () -> {
                    search.look();
                    return search.isDone();
                });
        return search.service();
    }

    int step() {
        int work = serving.doWork();
        for (int i = 0; i < clients.size(); i++) {
            work += clients.get(i).doWork();
        }
        return work;
    }

    void forget(RpcEndpoint client) {
        clients.remove(client);
    }

    void pump(String what, BooleanSupplier condition) {
        Await.until(() -> what, this::step, condition);
    }

    @Override
    public void close() {
        clients.forEach(RpcEndpoint::close);
        serving.close();
    }
}
