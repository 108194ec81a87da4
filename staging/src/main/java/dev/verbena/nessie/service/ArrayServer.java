package dev.verbena.nessie.service;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.Transport;

/** An array server on a thread of its own. Thread-safe. */
public final class ArrayServer implements AutoCloseable {
    private static final long START_NS = 60_000_000_000L;

    private final AgentHost host;
    private final ArrayServerAgent agent;

    private ArrayServer(AgentHost host, ArrayServerAgent agent) {
        this.host = host;
        this.agent = agent;
    }

    /**
     * Starts a server, and waits until it can be called: the sealed versions in its directory are
     * there again.
     *
     * @param environment for clock, files, TCP and errors; not closed by the server
     * @param transport not used by any thread yet; closed by the server, also if this throws
     * @param directory of this server alone; made if absent
     * @throws RuntimeException naming what is wrong, for example that another server has the
     *     directory
     */
    public static ArrayServer start(
            Environment environment,
            Transport transport,
            String directory,
            ArrayServerOptions options) {
        AgentHost host =
                new AgentHost(
                        environment, (text, cause) -> new ArrayException(ArrayStatus.FAILED, text));
        ArrayServerAgent agent =
                new ArrayServerAgent(environment, transport, directory, options, host);
        ArrayServer server = new ArrayServer(host, agent);
        AgentThread thread =
                host.start(
                        AgentThread.builder("array-server", environment)
                                .agent(agent)
                                .transport(() -> transport)
                                .wakeOnStreams());
        agent.wakeWith(thread::wakeup);
        if (!host.await(() -> agent.isStarted() || host.failure() != null, START_NS)
                || host.failure() != null) {
            Throwable why = host.failure();
            server.close();
            throw why instanceof RuntimeException known
                    ? known
                    : new ArrayException(ArrayStatus.FAILED, directory + " was not read in time");
        }
        return server;
    }

    /** Where clients find it. */
    public String url() {
        return agent.url();
    }

    /** Port of its listener for TCP; -1: it has none. */
    public int port() {
        return agent.port();
    }

    /** Whether a client has ended it. */
    public boolean hasEnded() {
        return agent.hasEnded();
    }

    /** Ends the thread and closes the transport; requests under way fail. */
    @Override
    public void close() {
        host.close();
    }
}
