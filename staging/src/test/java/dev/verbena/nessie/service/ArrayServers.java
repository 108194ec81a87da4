package dev.verbena.nessie.service;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Array servers on threads of this process, and their clients, over shm:// unless told other. */
final class ArrayServers implements AutoCloseable {
    /** A day: a virtual clock runs on while a server's thread waits for a processor. */
    static final long LIMIT_MS = 86_400_000;

    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    final List<ArrayServer> servers = new ArrayList<>();
    private final String scheme;
    private final TransportContext context;
    private final RealEnvironment environment;
    private final List<AutoCloseable> open = new ArrayList<>();

    ArrayServers(Path directory, int count, ArrayServerOptions options) {
        this("shm", directory, count, options);
    }

    ArrayServers(String scheme, Path directory, int count, ArrayServerOptions options) {
        this.scheme = scheme;
        String job = "array-test" + ProcessHandle.current().pid();
        context = new TransportContext().job(job);
        environment = RealEnvironment.builder().job(job).errorHandler(errors::add).build();
        open.add(environment);
        for (int i = 0; i < count; i++) {
            ArrayServer server =
                    ArrayServer.start(
                            environment,
                            transport(),
                            directory.resolve("server" + i).toString(),
                            options.withPlace(i, count));
            servers.add(server);
            open.add(server);
        }
    }

    Transport transport() {
        return Transports.open(scheme, context);
    }

    /** Of this thread; closed with the servers. */
    ArrayClient client() {
        ArrayClient client = connect();
        open.add(client);
        return client;
    }

    /** The caller closes it. */
    ArrayClient connect() {
        return connect(LIMIT_MS);
    }

    ArrayClient connect(long timeoutMs) {
        List<String> urls = servers.stream().map(ArrayServer::url).toList();
        return ArrayClient.connect(transport(), urls, timeoutMs, errors::add);
    }

    @Override
    public void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }
}
