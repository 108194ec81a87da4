package dev.verbena.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the processes of jobs find each other when they share no directory: {@code tcp://HOST:PORT}
 * in the place of the directory's name ({@link JobGroup#discover}). One serves any number of jobs,
 * which do not see each other.
 *
 * <p>What a process published is forgotten when its connection ends, everything of a job when its
 * last connection ends. Whoever can connect is served: listen where strangers cannot.
 *
 * <pre>
 * request, a line; words are URL-encoded    answer: the number of lines, then those
 * verbena-rendezvous/1 JOB                  0; the first request of a connection
 * folders                                   a folder in each
 * read FOLDER                               NAME TEXT in each
 * put FOLDER NAME TEXT                      0
 * publish FOLDER NAME TEXT                  0
 * remove FOLDER NAME                        0
 * anything else                             error REASON; the connection ends
 * </pre>
 *
 * <p>{@link #close}, {@link #port} and {@link #isAlive} may be called by any thread.
 */
public final class RendezvousServer implements AutoCloseable {
    static final String MAGIC = "verbena-rendezvous/1";

    /** Longest request: a text whose every byte is encoded, and names. */
    static final int LINE_MAX = 3 * RendezvousStore.TEXT_MAX + 2048;

    private static final long BYTES_MAX = 256L << 20;

    private final ByteStreams.Listener listener;
    private final AgentThread thread;

    private RendezvousServer(ByteStreams.Listener listener, AgentThread thread) {
        this.listener = listener;
        this.thread = thread;
    }

    /**
     * Starts a server on a thread of its own.
     *
     * @param host address to listen on; empty: loopback
     * @param port 0: any free one
     * @throws java.io.UncheckedIOException if the address cannot be bound, naming it
     */
    public static RendezvousServer launch(Environment environment, String host, int port) {
        ByteStreams.Listener listener = environment.streams().listen(host, port);
        try {
            AgentThread thread =
                    AgentThread.builder("rendezvous", environment)
                            .agent(new Engine(listener))
                            .wakeOnStreams()
                            .start();
            return new RendezvousServer(listener, thread);
        } catch (RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /** Port listened on. */
    public int port() {
        return listener.port();
    }

    /** Whether it serves. An error that it cannot go on after ends it, too. */
    public boolean isAlive() {
        return thread.isAlive();
    }

    /** Ends all connections. Idempotent. */
    @Override
    public void close() {
        thread.close();
    }

    /** One for all connections. */
    private static final class Engine implements ProtocolAgent {
        private static final int ACCEPT_MAX = 64;

        private final ByteStreams.Listener listener;
        private final List<RendezvousConnection> connections = new ArrayList<>();
        private final Map<String, JobTexts> jobs = new HashMap<>();

        Engine(ByteStreams.Listener listener) {
            this.listener = listener;
        }

        @Override
        public long nextDeadlineNs() {
            return NO_DEADLINE;
        }

        @Override
        public String roleName() {
            return "rendezvous";
        }

        @Override
        public int doWork() {
            int work = 0;
            for (int i = 0; i < ACCEPT_MAX; i++) {
                ByteStreams.ByteStream stream = listener.accept();
                if (stream == null) {
                    break;
                }
                connections.add(new RendezvousConnection(stream, this::jobOf));
                work++;
            }
            for (int i = connections.size() - 1; i >= 0; i--) {
                RendezvousConnection connection = connections.get(i);
                work += connection.doWork();
                if (connection.hasEnded()) {
                    connections.remove(i);
                    end(connection);
                    work++;
                }
            }
            return work;
        }

        private JobTexts jobOf(String name) {
            long held = jobs.values().stream().mapToLong(JobTexts::bytes).sum();
            return held > BYTES_MAX ? null : jobs.computeIfAbsent(name, JobTexts::new);
        }

        private void end(RendezvousConnection connection) {
            JobTexts job = connection.close();
            if (job != null && job.leave() == 0) {
                jobs.remove(job.name());
            }
        }

        @Override
        public void onClose() {
            connections.forEach(RendezvousConnection::close);
            listener.close();
        }
    }
}
