package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.collections.ArrayListUtil;
import org.agrona.collections.IntHashSet;

/**
 * Calls procedures of servers. A call's deadline covers sending, the server's work and the fetch of
 * a long result. Only the {@code await} calls and {@link #getService} block. Owned by the
 * transport's thread. A call whose arguments and result are short allocates nothing.
 */
public final class RpcClient {
    private static final int CYCLES_PER_LOOK = 8;
    private static final int RESULT_LENGTH_MAX = 1 << 28;
    private static final long MS = 1_000_000;

    private final NntiTransport transport;
    private final RegisteredBuffers longArgs;
    private final RegisteredBuffers longResults;
    private final IntHashSet stubs = new IntHashSet();
    private final ArrayList<ClientRequest> active = new ArrayList<>();

    /** Fetches of calls that have ended meanwhile. */
    private final ArrayList<Fetch> abandoned = new ArrayList<>();

    private final RpcMessage arrived = new RpcMessage();
    private final Outgoing responseless = new Outgoing();
    private final Pushes pushes;
    private final int exchange;
    private long nextId = 1;
    private int sendingCount;
    private int fetchingCount;
    private int cycles;
    private long earliestNs = Long.MAX_VALUE;

    /** Some call's time has not begun: the first look at the clock begins it. */
    private boolean hasUntimed;

    private long lateCount;
    private long longResultCount;

    RpcClient(NntiTransport transport) {
        this.transport = transport;
        this.exchange = (int) transport.id();
        this.longArgs = new RegisteredBuffers(transport, BufferFlags.GET_SRC);
        this.longResults = new RegisteredBuffers(transport, BufferFlags.GET_DST);
        this.pushes = new Pushes(transport);
        register(Opcode.NULL);
        register(Opcode.GET_SERVICE);
        register(Opcode.KILL_SERVICE);
    }

    /** Says that this client knows the types of an operation; must precede its first call. */
    public void register(int opcode) {
        stubs.add(opcode);
    }

    /**
     * Finds a server.
     *
     * @param timeoutMs milliseconds, over connecting and asking
     * @throws NntiException naming why not; {@code EBADRPC} if what is there is no Nessie server
     */
    public RpcService getService(String url, long timeoutMs) {
        ServiceSearch search = search(url, timeoutMs);
        NntiResult waited =
                transport.await(
                        () -> {
                            doWork();
                            search.look();
                            return search.isDone();
                        },
                        NntiTransport.NEVER);
        if (waited != NntiResult.OK) {
            search.interrupted();
        }
        if (search.failure() != null) {
            throw search.failure();
        }
        return search.service();
    }

    /**
     * Starts to find a server.
     *
     * @param timeoutMs milliseconds, over connecting and asking
     * @throws NntiException {@code EINVAL} for an address of another scheme, or none
     */
    public ServiceSearch search(String url, long timeoutMs) {
        return new ServiceSearch(this, transport, url, timeoutMs);
    }

    /** Disconnects. */
    public void release(RpcService service) {
        transport.disconnect(service.peer());
        onPeerClosed(service.peer());
    }

    /**
     * Starts a call.
     *
     * @param args null: none
     * @param result is decoded into before the call is done; null: what comes is not looked at
     * @param data the server reads or writes it, or asks for it (its flags say which: {@code
     *     GET_SRC}, {@code PUT_DST}, {@code PUT_SRC}) until the call is done; null: none
     * @param dataLength bytes of it that the server may use
     * @param timeoutMs deadline of the whole call, milliseconds
     * @return {@code OK}: it is under way; otherwise nothing was sent and the call is done: {@code
     *     ENOENT} (operation not registered here), {@code EMSGSIZE}, {@code EENCODE}, {@code
     *     EINVAL}, {@code EIO}
     */
    public RpcResult call(
            ClientRequest request,
            RpcService service,
            int opcode,
            XdrValue args,
            XdrValue result,
            NntiBuffer data,
            long dataLength,
            long timeoutMs) {
        boolean isDataWrong =
                data != null && (dataLength > data.length() || dataLength < 0 || !data.isOpen());
        request.begin(this, service, result, data, NntiTransport.timeoutNs(timeoutMs));
        Outgoing message = request.message;
        message.begin(args).request(exchange, nextId++, opcode, 0);
        if (data != null) {
            message.header.data(dataLength, data.handle());
        }
        RpcResult prepared = isDataWrong ? RpcResult.EINVAL : RpcResult.ENOENT;
        if (!isDataWrong && stubs.contains(opcode)) {
            prepared = message.prepare(service.requestLength(), service.argsLengthMax(), longArgs);
        }
        if (prepared != RpcResult.OK) {
            request.done(prepared, 0);
            return prepared;
        }
        active.add(request);
        hasUntimed = true;
        sendingCount++;
        send(request);
        return request.isDone() ? request.result() : RpcResult.OK;
    }

    /**
     * A call without an answer.
     *
     * @return {@code EINVAL} if the arguments do not fit into a request; {@code EBADRPC}: not now
     */
    public RpcResult callResponseless(RpcService service, int opcode, XdrValue args) {
        if (!stubs.contains(opcode)) {
            return RpcResult.ENOENT;
        }
        responseless.begin(args).request(exchange, nextId++, opcode, RpcMessage.FLAG_RESPONSELESS);
        if (responseless.prepare(service.requestLength(), 0, longArgs) != RpcResult.OK) {
            return RpcResult.EINVAL;
        }
        int at = transport.claim();
        if (at < 0) {
            return RpcResult.EBADRPC;
        }
        int length = responseless.encode(transport.messages(), at, true);
        return length < 0
                ? RpcResult.EENCODE
                : RpcResult.of(transport.commit(service.peer(), length));
    }

    private void send(ClientRequest request) {
        int at = transport.claim();
        if (at < 0) {
            return;
        }
        int length = request.message.encode(transport.messages(), at, true);
        if (length < 0) {
            end(request, RpcResult.EENCODE, 0);
            return;
        }
        NntiResult result = transport.commit(request.service.peer(), length);
        if (result == NntiResult.OK) {
            sendingCount--;
            request.sent();
        } else if (result != NntiResult.EAGAIN) {
            end(request, RpcResult.of(result), 0);
        }
    }

    /** Sends, fetches and times out what is due; work done. Part of {@link RpcEndpoint#doWork}. */
    int doWork() {
        int work = pushes.doWork();
        if (sendingCount > 0 || fetchingCount > 0 || isLate()) {
            work += stepAll();
        }
        for (int i = abandoned.size() - 1; i >= 0; i--) {
            if (abandoned.get(i).isComplete()) {
                abandoned.remove(i).free(longResults);
                work++;
            }
        }
        return work;
    }

    /** Some cycles leave the clock alone, which costs as much as an empty look into the network. */
    private boolean isLate() {
        if (active.isEmpty() || ++cycles % CYCLES_PER_LOOK != 0) {
            return false;
        }
        long now = transport.transport().nanoTime();
        beginTimes(now);
        return now - earliestNs >= 0;
    }

    private void beginTimes(long now) {
        if (hasUntimed) {
            hasUntimed = false;
            long earliest = Long.MAX_VALUE;
            for (int i = 0; i < active.size(); i++) {
                active.get(i).timed(now);
                earliest = RpcEndpoint.earlier(earliest, active.get(i).deadlineNs);
            }
            earliestNs = earliest;
        }
    }

    private int stepAll() {
        int work = 0;
        long now = transport.transport().nanoTime();
        beginTimes(now);
        for (int i = active.size() - 1; i >= 0; i--) {
            ClientRequest request = active.get(i);
            work += step(request);
            request.timed(now); // one that was started meanwhile
            if (!request.isDone() && now - request.deadlineNs >= 0) {
                end(request, RpcResult.ETIMEDOUT, 0);
                work++;
            }
            i = Math.min(i, active.size());
        }
        // After all of them: what is run when a call is done may have started others.
        hasUntimed = true;
        beginTimes(now);
        return work;
    }

    private int step(ClientRequest request) {
        if (request.state() == ClientRequest.State.SENDING) {
            send(request);
            return request.state() == ClientRequest.State.SENDING ? 0 : 1;
        }
        boolean isFetched =
                request.state() == ClientRequest.State.PROCESSING_RESULT
                        && request.fetch.isComplete();
        if (isFetched) {
            fetched(request);
        }
        return isFetched ? 1 : 0;
    }

    private void fetched(ClientRequest request) {
        int at = transport.claim();
        if (at < 0) {
            return;
        }
        RpcMessage.encodeAck(transport.messages(), at, exchange, request.id());
        if (transport.commit(request.service.peer(), RpcMessage.ACK_LENGTH) == NntiResult.EAGAIN) {
            return;
        }
        Fetch fetch = request.fetch;
        if (fetch.result() == RpcResult.OK) {
            decode(request, fetch.bytes(), 0, fetch.length(), request.remoteCode());
        } else {
            end(request, fetch.result(), 0);
        }
    }

    private void decode(ClientRequest request, DirectBuffer buffer, int at, int length, int code) {
        if (code == 0 && request.resultValue != null) {
            try {
                request.resultValue.decode(buffer, at, at + length);
            } catch (XdrException | IndexOutOfBoundsException e) {
                end(request, RpcResult.EDECODE, 0);
                return;
            }
        }
        end(request, RpcResult.OK, code);
    }

    /** A result: belongs to the call of this id at this peer, or is late. */
    void onResult(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        ClientRequest request = find(peer, buffer, at);
        if (request == null) {
            lateCount++;
            releaseLate(peer, buffer, at, length);
            return;
        }
        if (!arrived.decode(buffer, at, length, false)) {
            end(request, RpcResult.EDECODE, 0);
        } else if (!arrived.isFetch()) {
            decode(request, buffer, arrived.bodyAt, arrived.bodyLength, arrived.code);
        } else if (arrived.bodyLength > RESULT_LENGTH_MAX) {
            end(request, RpcResult.EMSGSIZE, 0);
        } else {
            fetch(request);
        }
    }

    /** A server asks for data of a call. */
    void onAsk(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        pushes.onAsk(peer, find(peer, buffer, at), buffer, at, length);
    }

    /** Nobody will fetch it: the server need not keep it. */
    private void releaseLate(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        int slot = transport.claim();
        if (slot >= 0 && arrived.decode(buffer, at, length, false) && arrived.isFetch()) {
            RpcMessage.encodeAck(transport.messages(), slot, exchange, arrived.id);
            transport.commit(peer, RpcMessage.ACK_LENGTH);
        }
    }

    private void fetch(ClientRequest request) {
        RpcResult started =
                request.fetch.start(transport, longResults, request.service.peer(), arrived);
        if (started != RpcResult.OK) {
            end(request, started, 0);
            return;
        }
        request.fetching(arrived.code);
        fetchingCount++;
        longResultCount++;
    }

    /** The call that a message of its server is about; null: none is at the server. */
    private ClientRequest find(NntiPeer peer, DirectBuffer buffer, int at) {
        long id = RpcMessage.idOf(buffer, at);
        for (int i = active.size() - 1; i >= 0; i--) {
            ClientRequest each = active.get(i);
            if (each.id() == id) {
                boolean isIts =
                        each.service.peer() == peer
                                && RpcMessage.exchangeOf(buffer, at) == exchange
                                && each.state() == ClientRequest.State.PROCESSING_REQUEST;
                return isIts ? each : null;
            }
        }
        return null;
    }

    private void end(ClientRequest request, RpcResult result, int code) {
        sendingCount -= request.state() == ClientRequest.State.SENDING ? 1 : 0;
        fetchingCount -= request.state() == ClientRequest.State.PROCESSING_RESULT ? 1 : 0;
        ArrayListUtil.fastUnorderedRemove(active, request);
        request.message.free(longArgs, result == RpcResult.OK);
        if (request.fetch.isUnderWay()) {
            abandoned.add(request.leaveFetch());
        } else {
            request.fetch.free(longResults);
        }
        request.done(result, code);
    }

    /**
     * Gives a call up: it ends with {@code ECANCELED}, a late result is discarded. Bulk data that
     * the caller has registered is to be unregistered before it is used for anything else.
     */
    public void cancel(ClientRequest request) {
        if (active.contains(request)) {
            end(request, RpcResult.ECANCELED, 0);
        }
    }

    void onPeerClosed(NntiPeer peer) {
        for (int i = active.size() - 1; i >= 0; i--) {
            if (i < active.size() && active.get(i).service.peer() == peer) {
                end(active.get(i), RpcResult.EIO, 0);
            }
        }
    }

    /** Looks once; true when the call is done, so that {@link #await} would not block. */
    public boolean test(ClientRequest request) {
        if (!request.isDone()) {
            transport.progress();
            doWork();
        }
        return request.isDone();
    }

    /**
     * Waits for a call.
     *
     * @param timeoutMs milliseconds; negative: as long as the call may take
     * @return {@link ClientRequest#result}, or {@code ETIMEDOUT}: the call goes on
     */
    public RpcResult await(ClientRequest request, long timeoutMs) {
        NntiResult waited = transport.await(request.completion, timeoutMs);
        return request.isDone() ? request.result() : RpcResult.of(waited);
    }

    /** Waits until one of these calls is done; its index, or -1: none within the time. */
    public int awaitAny(List<ClientRequest> requests, long timeoutMs) {
        int[] found = {-1};
        transport.await(
                () -> {
                    doWork();
                    for (int i = 0; i < requests.size() && found[0] < 0; i++) {
                        ClientRequest each = requests.get(i);
                        found[0] = each != null && each.isDone() ? i : -1;
                    }
                    return found[0] >= 0;
                },
                timeoutMs);
        return found[0];
    }

    /**
     * Waits for all of these calls; each tells how it went itself.
     *
     * @return {@code EBADRPC} if one failed, else {@code ETIMEDOUT} if one timed out or goes on
     */
    public RpcResult awaitAll(List<ClientRequest> requests, long timeoutMs) {
        long start = transport.transport().nanoTime();
        RpcResult worst = RpcResult.OK;
        for (ClientRequest request : requests) {
            long passedMs = (transport.transport().nanoTime() - start) / MS;
            RpcResult result =
                    await(request, timeoutMs < 0 ? timeoutMs : Math.max(0, timeoutMs - passedMs));
            if (result == RpcResult.ETIMEDOUT) {
                worst = worst == RpcResult.OK ? result : worst;
            } else if (result != RpcResult.OK) {
                worst = RpcResult.EBADRPC;
            }
        }
        return worst;
    }

    /**
     * Ends a server: signal 0 in order, after what it has accepted; another at once, with that
     * code.
     */
    public RpcResult kill(RpcService service, int signal, long timeoutMs) {
        XdrInts args = new XdrInts(true, 1);
        args.set(0, signal);
        if (signal != 0) {
            return callResponseless(service, Opcode.KILL_SERVICE, args);
        }
        ClientRequest request = new ClientRequest();
        RpcResult called =
                call(request, service, Opcode.KILL_SERVICE, args, null, null, 0, timeoutMs);
        return called == RpcResult.OK ? await(request, NntiTransport.NEVER) : called;
    }

    /** Results that came when nobody waited for them any more. */
    public long lateCount() {
        return lateCount;
    }

    /** Results that were fetched, because they did not fit into a message. */
    public long longResultCount() {
        return longResultCount;
    }

    /** When something is due although nothing comes; {@code Long.MAX_VALUE}: never. */
    long nextDeadlineNs() {
        if (active.isEmpty()) {
            return Long.MAX_VALUE;
        }
        if (hasUntimed) {
            beginTimes(transport.transport().nanoTime());
        }
        return earliestNs;
    }

    void close() {
        for (int i = active.size() - 1; i >= 0; i--) {
            end(active.get(i), RpcResult.ECANCELED, 0);
        }
        longArgs.close();
        longResults.close();
    }
}
