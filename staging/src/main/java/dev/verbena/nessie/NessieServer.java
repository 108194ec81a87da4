package dev.verbena.nessie;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcHandler;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.xdr.XdrValue;
import dev.verbena.staging.CounterMirror;
import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import org.agrona.concurrent.AgentTerminationException;

/**
 * A service that runs on a thread of its own: with {@link Builder#threads} its handlers run on
 * others. Thread-safe.
 */
public final class NessieServer implements AutoCloseable {
    private final CompletableFuture<String> url = new CompletableFuture<>();
    private final CompletableFuture<Integer> end = new CompletableFuture<>();
    private final List<AgentThread> workers = new CopyOnWriteArrayList<>();
    private final AgentThread thread;

    private NessieServer(Builder builder) {
        thread =
                AgentThread.builder("nessie-server", builder.environment)
                        .agent(new Loop(builder))
                        .transport(() -> builder.transport)
                        .start();
        NessieClient.await(url, this);
    }

    /**
     * Describes a server.
     *
     * @param environment for clock and errors; not closed by the server
     * @param transport not used by any thread yet; closed by the server
     */
    public static Builder builder(Environment environment, Transport transport) {
        return new Builder(environment, transport);
    }

    /** Where clients find it. */
    public String url() {
        return url.join();
    }

    /**
     * Completes with the exit code when the server has ended: killed, after its last request, or,
     * with -1, by an error.
     */
    public CompletableFuture<Integer> ended() {
        return end;
    }

    /** With which code it has ended, see {@link #ended}; null: it runs. */
    public Integer exitCode() {
        return end.getNow(null);
    }

    /** Ends the threads and closes the transport; calls under way end with an error. */
    @Override
    public void close() {
        thread.close();
        workers.forEach(AgentThread::close);
    }

    /** What a server does on its thread beside answering calls. */
    public interface Part {
        /**
         * Begins, before the server can be found.
         *
         * @param network of the server; its {@code wakeup} makes the thread look again
         */
        void onStart(NntiTransport network);

        /** Does what can be done now; work done. */
        default int doWork() {
            return 0;
        }

        /**
         * The server is about to end, in order: it accepts no new requests; handlers of accepted
         * ones may still begin. Asked again while it is false, or while a request is unanswered.
         *
         * @return whether all that was begun is done, or takes too long
         */
        default boolean tryEnd() {
            return true;
        }

        /** As of {@link ProtocolAgent}. */
        default long nextDeadlineNs() {
            return ProtocolAgent.NO_DEADLINE;
        }

        /** Ends, before the network does; also if it could not begin. Throws nothing. */
        default void onClose() {}
    }

    /** Describes a server. */
    public static final class Builder {
        private final Environment environment;
        private final Transport transport;
        private final List<Consumer<RpcServer>> operations = new ArrayList<>();
        private Part part = network -> {};
        private RpcServerOptions options = RpcServerOptions.DEFAULT;

        private Builder(Environment environment, Transport transport) {
            this.environment = environment;
            this.transport = transport;
        }

        /** Serves an operation without arguments. */
        public Builder on(int opcode, RpcHandler handler) {
            return on(opcode, null, handler);
        }

        /**
         * Serves an operation.
         *
         * @param args makes objects for its arguments
         */
        public Builder on(int opcode, Supplier<? extends XdrValue> args, RpcHandler handler) {
            operations.add(server -> require(opcode, server.register(opcode, args, handler)));
            return this;
        }

        /** Serves an operation that needs one of {@link #slots} for bulk data. */
        public Builder onBulk(int opcode, Supplier<? extends XdrValue> args, RpcHandler handler) {
            operations.add(
                    server -> require(opcode, server.registerWithSlot(opcode, args, handler)));
            return this;
        }

        private static void require(int opcode, RpcResult result) {
            if (result != RpcResult.OK) {
                throw new IllegalArgumentException("operation " + opcode + ": " + result);
            }
        }

        /** Runs handlers on so many threads; 0: on the server's own. */
        public Builder threads(int count) {
            options = options.withThreads(count);
            return this;
        }

        /** Buffers for bulk data: so many of so many bytes. */
        public Builder slots(int count, int length) {
            options = options.withSlots(count, length);
            return this;
        }

        /** All options at once. */
        public Builder options(RpcServerOptions newOptions) {
            options = newOptions;
            return this;
        }

        /**
         * Lets clients trace requests to files of at most so many bytes; otherwise none may.
         *
         * @param directory of traces and nothing else, made if absent
         */
        public Builder traces(String directory, long lengthMax) {
            operations.add(s -> s.allowTraces(environment.store(directory), lengthMax));
            return this;
        }

        /** Does this, too. */
        public Builder part(Part newPart) {
            part = newPart;
            return this;
        }

        /**
         * Starts.
         *
         * @throws RuntimeException naming an operation that is there twice, or what {@link
         *     Part#onStart} throws
         */
        public NessieServer start() {
            return new NessieServer(this);
        }
    }

    private final class Loop implements ProtocolAgent {
        private final Builder builder;
        private RpcEndpoint endpoint;
        private RpcServer server;
        private CounterMirror counters;
        private boolean isAtWork;

        Loop(Builder builder) {
            this.builder = builder;
        }

        @Override
        public void onStart() {
            Environment environment = builder.environment;
            try {
                endpoint = RpcEndpoint.over(builder.transport, environment.errorHandler());
                builder.part.onStart(endpoint.transport());
                server = endpoint.serve(builder.options);
                counters =
                        new CounterMirror(environment, "nessie server")
                                .show("requests handled", server::handledCount)
                                .show("requests malformed", server::malformedCount)
                                .show("requests with their data", server::inlineDataCount)
                                .show("requests pending", server::pendingCount)
                                .show("buffers in use at most", server::slotsUsedMax);
                builder.operations.forEach(operation -> operation.accept(server));
                Runnable wakeup = () -> workers.forEach(AgentThread::wakeup);
                for (ProtocolAgent each : server.workers(environment.nanoClock(), wakeup)) {
                    workers.add(
                            AgentThread.builder("nessie-worker", environment).agent(each).start());
                }
                url.complete(endpoint.transport().url());
            } catch (RuntimeException | Error e) {
                url.completeExceptionally(e);
                throw e;
            }
        }

        @Override
        public int doWork() {
            isAtWork = true;
            int work = endpoint.doWork() + builder.part.doWork();
            counters.worked(work);
            boolean isDone = server.exitCode() != 0;
            isDone = isDone || server.isEnding() && builder.part.tryEnd() && server.isDone();
            isAtWork = false;
            if (isDone) {
                throw new AgentTerminationException("the server has ended");
            }
            return work;
        }

        @Override
        public long nextDeadlineNs() {
            long earliest =
                    RpcEndpoint.earlier(endpoint.nextDeadlineNs(), counters.nextDeadlineNs());
            return RpcEndpoint.earlier(earliest, builder.part.nextDeadlineNs());
        }

        @Override
        public void onClose() {
            builder.part.onClose();
            CloseHelper.close(counters);
            CloseHelper.close(endpoint == null ? builder.transport : endpoint);
            end.complete(isAtWork || server == null ? -1 : server.exitCode());
        }

        @Override
        public String roleName() {
            return "nessie-server";
        }
    }
}
