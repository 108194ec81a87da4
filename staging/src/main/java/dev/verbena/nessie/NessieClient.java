package dev.verbena.nessie;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcException;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.xdr.XdrValue;
import dev.verbena.transport.Transport;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * Calls one service from any thread, over a thread and a transport of its own. Calls allocate; who
 * must not uses {@code rpc.RpcClient}. Thread-safe.
 */
public final class NessieClient implements AutoCloseable {
    private static final int COMMANDS_MAX = 1024;
    private static final int DATA_FLAGS =
            BufferFlags.GET_SRC | BufferFlags.PUT_DST | BufferFlags.PUT_SRC;

    private final ManyToOneConcurrentArrayQueue<Runnable> commands =
            new ManyToOneConcurrentArrayQueue<>(COMMANDS_MAX);
    private final CompletableFuture<Void> connected = new CompletableFuture<>();
    private final Loop loop = new Loop();
    private final Environment environment;
    private final Transport transport;
    private final String url;
    private final long timeoutMs;
    private final AgentThread thread;
    private volatile boolean isClosed;

    private NessieClient(Environment environment, Transport transport, String url, long timeoutMs) {
        this.environment = environment;
        this.transport = transport;
        this.url = url;
        this.timeoutMs = timeoutMs;
        thread =
                AgentThread.builder("nessie-client", environment)
                        .agent(loop)
                        .transport(() -> transport)
                        .start();
        await(connected, this);
    }

    /** Waits until it has started; what could not is closed, and the reason thrown. */
    static void await(CompletableFuture<?> started, AutoCloseable starting) {
        try {
            started.join();
        } catch (CompletionException e) {
            CloseHelper.quietClose(starting);
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /**
     * Finds a service.
     *
     * @param environment for clock and errors; not closed by the client
     * @param transport not used by any thread yet; closed by the client
     * @param timeoutMs milliseconds, to connect and for each call
     * @throws dev.verbena.nessie.nnti.NntiException naming why not
     */
    public static NessieClient connect(
            Environment environment, Transport transport, String url, long timeoutMs) {
        return new NessieClient(environment, transport, url, timeoutMs);
    }

    /**
     * Calls.
     *
     * @param args null: none; not to be changed before the end
     * @param result is decoded into; what the future holds. Null: none
     * @return fails with {@link RpcException}
     */
    public <R extends XdrValue> CompletableFuture<R> call(int opcode, XdrValue args, R result) {
        return call(opcode, args, result, (OffHeapMemory) null);
    }

    /**
     * Calls with bulk data.
     *
     * @param data direct buffer, which the server may read and write until the end; from its first
     *     byte to its capacity
     */
    public <R extends XdrValue> CompletableFuture<R> call(
            int opcode, XdrValue args, R result, ByteBuffer data) {
        return call(opcode, args, result, data == null ? null : OffHeapMemories.wrap(data));
    }

    /**
     * Calls with bulk data in an Agrona buffer.
     *
     * @param data over a direct {@link ByteBuffer}; the server may read and write this range of it
     *     until the end
     * @param offset any, also an odd one
     * @throws IllegalArgumentException if it is over something else, or the range is outside
     */
    public <R extends XdrValue> CompletableFuture<R> call(
            int opcode, XdrValue args, R result, DirectBuffer data, int offset, int length) {
        data.boundsCheck(offset, length);
        ByteBuffer bytes = data.byteBuffer();
        if (bytes == null) {
            throw new IllegalArgumentException("a buffer over no direct ByteBuffer: " + data);
        }
        int start = data.wrapAdjustment() + offset;
        return call(opcode, args, result, bytes.duplicate().clear().slice(start, length));
    }

    /**
     * Calls with bulk data in memory of any kind, for instance of which there is a view as
     * Chronicle {@code BytesStore}.
     *
     * @param data which the server may read and write until the end. Not to be closed before
     */
    public <R extends XdrValue> CompletableFuture<R> call(
            int opcode, XdrValue args, R result, OffHeapMemory data) {
        return call(opcode, args, result, data, null);
    }

    /**
     * Calls with bulk data that is registered already, and so is not registered again.
     *
     * @param data of {@link #allocate} of this client, which the server may read and write until
     *     the end. Not to be freed before
     */
    public <R extends XdrValue> CompletableFuture<R> call(
            int opcode, XdrValue args, R result, RegisteredRegion data) {
        return call(opcode, args, result, null, data);
    }

    private <R extends XdrValue> CompletableFuture<R> call(
            int opcode, XdrValue args, R result, OffHeapMemory data, RegisteredRegion region) {
        CompletableFuture<R> future = new CompletableFuture<>();
        if (!offer(() -> loop.start(opcode, args, result, data, region, future))) {
            RpcResult why = isClosed ? RpcResult.ECANCELED : RpcResult.EBADRPC;
            future.completeExceptionally(new RpcException(why, 0, "operation " + opcode));
        }
        return future;
    }

    /**
     * Memory for bulk data, registered once for all calls and gone with the client. Its windows and
     * views are for any thread. Waits for the client's thread.
     *
     * @throws CompletionException with what the transport throws if there is no memory
     */
    public RegisteredRegion allocate(long length) {
        return allocate(length, RemoteDescriptor.REMOTE_READ | RemoteDescriptor.REMOTE_WRITE);
    }

    /**
     * As {@link #allocate(long)}, with these rights of the server.
     *
     * @param rights of {@link RemoteDescriptor}. With {@code REMOTE_READ} alone the data travel in
     *     the request if they fit
     */
    public RegisteredRegion allocate(long length, int rights) {
        return CompletableFuture.supplyAsync(() -> loop.allocate(length, rights), this::execute)
                .join();
    }

    /**
     * Gives memory of {@link #allocate} back, which no call uses. Waits for the client's thread.
     */
    public void free(RegisteredRegion region) {
        Runnable free = () -> loop.endpoint.transport().unregister(loop.regions.remove(region));
        CompletableFuture.runAsync(free, this::execute).join();
    }

    /**
     * Ends a server in order: what it has accepted is answered. Waits until it has said so.
     *
     * @throws CompletionException with an {@link RpcException} if it has not
     */
    public void kill() {
        Runnable kill = () -> loop.endpoint.client().kill(loop.service, 0, timeoutMs);
        CompletableFuture.runAsync(kill, this::execute).join();
    }

    /**
     * Ends the server's trace and begins another one, as {@code RpcClient.traceReset} does. Waits
     * until it is so.
     *
     * @param file new name in the folder that the server allows; empty: no trace
     * @param opcodes that are traced; none: all
     * @throws CompletionException with an {@link RpcException} if the server refuses
     */
    public void trace(String file, int... opcodes) {
        RpcClient client = loop.endpoint.client();
        Runnable reset = () -> client.traceReset(loop.service, file, 0, opcodes, timeoutMs);
        CompletableFuture.runAsync(reset, this::execute).join();
    }

    /** At once on the client's own thread, where calls complete: it would wait for itself. */
    private void execute(Runnable command) {
        if (Thread.currentThread() == loop.owner) {
            command.run();
        } else if (!offer(command)) {
            throw new IllegalStateException(isClosed ? "closed" : "too many calls wait");
        }
    }

    private boolean offer(Runnable command) {
        boolean isOffered = commands.offer(command);
        thread.wakeup();
        return isOffered && !isClosed; // asked afterwards: the loop may not look any more
    }

    /** Calls under way fail with {@code ECANCELED}. */
    @Override
    public void close() {
        isClosed = true;
        thread.close();
    }

    private final class Loop implements ProtocolAgent {
        /** Of {@link NessieClient#allocate}. */
        private final Map<RegisteredRegion, NntiBuffer> regions = new HashMap<>();

        private Thread owner;
        private RpcEndpoint endpoint;
        private RpcService service;

        @Override
        public void onStart() {
            owner = Thread.currentThread();
            try {
                endpoint = RpcEndpoint.over(transport, environment.errorHandler());
                service = endpoint.client().getService(url, timeoutMs);
                connected.complete(null);
            } catch (RuntimeException | Error e) {
                connected.completeExceptionally(e);
            }
        }

        <R extends XdrValue> void start(
                int opcode,
                XdrValue args,
                R result,
                OffHeapMemory data,
                RegisteredRegion region,
                CompletableFuture<R> future) {
            try {
                NntiBuffer kept = regions.get(region);
                if (region != null && kept == null) {
                    throw new IllegalArgumentException(region + " is none of this client");
                }
                NntiBuffer bulk =
                        data == null ? kept : endpoint.transport().register(data, DATA_FLAGS);
                ClientRequest request = new ClientRequest();
                request.onDone(
                        () -> {
                            if (bulk != kept) {
                                endpoint.transport().unregister(bulk);
                            }
                            end(opcode, request, result, future);
                        });
                endpoint.client().register(opcode);
                long length = bulk == null ? 0 : bulk.length();
                endpoint.client()
                        .call(request, service, opcode, args, result, bulk, length, timeoutMs);
            } catch (RuntimeException | Error e) {
                future.completeExceptionally(e);
            }
        }

        private static <R> void end(
                int opcode, ClientRequest request, R result, CompletableFuture<R> future) {
            if (request.result() == RpcResult.OK && request.remoteCode() == 0) {
                future.complete(result);
            } else {
                future.completeExceptionally(
                        new RpcException(
                                request.result(), request.remoteCode(), "operation " + opcode));
            }
        }

        RegisteredRegion allocate(long length, int rights) {
            RegisteredRegion region = endpoint.transport().transport().allocate(length, rights);
            regions.put(region, endpoint.transport().wrap(region));
            return region;
        }

        @Override
        public int doWork() {
            // There are commands only if it is connected.
            int work = commands.drain(Runnable::run, COMMANDS_MAX);
            return endpoint == null ? work : work + endpoint.doWork();
        }

        @Override
        public long nextDeadlineNs() {
            return endpoint == null ? NO_DEADLINE : endpoint.nextDeadlineNs();
        }

        @Override
        public void onClose() {
            isClosed = true; // an error may have ended the thread
            commands.drain(Runnable::run);
            CloseHelper.close(endpoint == null ? transport : endpoint);
        }

        @Override
        public String roleName() {
            return "nessie-client";
        }
    }
}
