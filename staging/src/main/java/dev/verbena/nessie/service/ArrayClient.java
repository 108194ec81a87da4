package dev.verbena.nessie.service;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.exchange.ExchangeSchedule;
import dev.verbena.staging.exchange.PacedMessages;
import dev.verbena.staging.exchange.RecordCarrier;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Chunks;
import dev.verbena.transport.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.agrona.ErrorHandler;

/**
 * Puts and gets boxes of arrays. Every call waits for its end. All failures are {@link
 * ArrayException}s that name what is wrong. One thread.
 */
public final class ArrayClient implements AutoCloseable {
    /** In place of the number of a version: the newest sealed one. */
    public static final long LATEST = ArrayConstants.LATEST;

    private static final int MEMORY = BufferFlags.GET_SRC | BufferFlags.PUT_DST;
    private static final int KNOWN_MAX = 256;

    /** Names a version. */
    private record Key(String name, long version) {}

    private final RpcEndpoint endpoint;
    private final List<RpcService> services = new ArrayList<>();
    private final long timeoutMs;
    private final Map<Key, ArrayDescription> known = new HashMap<>();

    /** Memory that a server which has not answered may still read or write. */
    private final List<NntiBuffer> unanswered = new ArrayList<>();

    /** Null: every server is called at once. */
    private PacedMessages paced;

    private int pieceLength;

    private ArrayClient(RpcEndpoint endpoint, List<String> urls, long timeoutMs) {
        this.endpoint = endpoint;
        this.timeoutMs = timeoutMs;
        urls.forEach(url -> services.add(endpoint.client().getService(url, timeoutMs)));
        for (int code = ArrayConstants.PUT; code <= ArrayConstants.OPEN; code++) {
            endpoint.client().register(code);
        }
    }

    /**
     * Finds the servers, and waits for that.
     *
     * @param transport closed with the client, also if this throws
     * @param urls of all servers, in the order of their places
     * @param timeoutMs milliseconds, to connect, for a server to have memory for a piece or a
     *     version on disk, and for each call beside the time that it is given to wait
     * @param errorHandler gets what goes wrong in between
     * @throws dev.verbena.nessie.nnti.NntiException naming why not
     */
    public static ArrayClient connect(
            Transport transport, List<String> urls, long timeoutMs, ErrorHandler errorHandler) {
        return RpcEndpoint.over(
                transport, errorHandler, endpoint -> new ArrayClient(endpoint, urls, timeoutMs));
    }

    /**
     * From now on boxes are put and got piece by piece, in the order and at the times of a
     * schedule: message k is a piece for its receiver, the server of that place, and is
     * acknowledged by the answer.
     *
     * @param schedule of this client, as many receivers as there are servers; used here only
     * @param carrier to and from the schedules of all other clients
     * @param pieceLength longest piece, bytes; each has an element at least
     */
    public void pace(ExchangeSchedule schedule, RecordCarrier carrier, int pieceLength) {
        Arguments.range("receivers", schedule.receivers(), services.size(), services.size());
        Arguments.range("pieceLength", pieceLength, 1, Integer.MAX_VALUE);
        Transport transport = endpoint.transport().transport();
        paced = new PacedMessages(transport, endpoint::doWork, schedule, carrier);
        this.pieceLength = pieceLength;
    }

    // ---- memory

    /** Memory that servers may read and write: the fastest. At most 1 GiB. */
    public NntiBuffer allocate(int bytes) {
        return endpoint.transport().alloc(bytes, 1, MEMORY);
    }

    /** Lets servers read and write a direct buffer, from its index 0 to its capacity. */
    public NntiBuffer register(ByteBuffer memory) {
        return endpoint.transport().register(OffHeapMemories.wrap(memory), MEMORY);
    }

    /** Takes memory away from the servers. What {@link #allocate} gave is gone. */
    public void release(NntiBuffer memory) {
        unanswered.remove(memory);
        endpoint.transport().unregister(memory);
    }

    // ---- arrays

    /**
     * Puts a piece. After a call without an answer in time ({@link ArrayStatus#DEADLINE}) its
     * memory may still be used by a server, and is to be released.
     *
     * @param array the version, made if it is not there
     * @param box no piece of which may overlap another one
     * @param memory of {@link #allocate} or {@link #register}; has the elements of the box in
     *     row-major order, and nothing else
     */
    public void put(ArrayDescription array, Box box, NntiBuffer memory) {
        Requests.requireInside(array, box, box, memory.length());
        List<ArrayCall> calls = new ArrayList<>();
        int home = Split.home(array.name(), services.size());
        boolean isAway = Split.part(array.whole(), box, home, services.size()) == null;
        if (isAway && !known.containsKey(new Key(array.name(), array.version()))) {
            calls.add(start(ArrayConstants.OPEN, request(array, home, 0), null, 0));
        }
        move(calls, ArrayConstants.PUT, array, box, memory, timeoutMs, timeoutMs);
        learn(array);
    }

    private void learn(ArrayDescription array) {
        if (known.size() == KNOWN_MAX) {
            known.clear();
        }
        known.put(new Key(array.name(), array.version()), array);
    }

    /**
     * Seals a version: it takes no more pieces, and is on disk when this returns. Sealing again has
     * no effect. A server that was restarted has lost what was not sealed: seal only what was put
     * since.
     */
    public void seal(String name, long version) {
        ArrayDescription array = find(name, version, 0);
        int home = Split.home(name, services.size());
        IntStream others = IntStream.range(0, services.size()).filter(place -> place != home);
        await(others.mapToObj(place -> seal(array, place)).toList(), null);
        seal(array, home).await();
    }

    /** Seals what one server has. */
    ArrayCall seal(ArrayDescription array, int place) {
        return start(ArrayConstants.SEAL, request(array, place, timeoutMs), null, timeoutMs);
    }

    /**
     * Gets a box.
     *
     * @param version or {@link #LATEST}
     * @param memory gets the elements of the box in row-major order; has room for nothing else
     * @param waitMs milliseconds to wait until pieces cover the box; 0: fail at once
     * @return number of the version
     */
    public long get(String name, long version, Box box, NntiBuffer memory, long waitMs) {
        long begin = now();
        ArrayDescription array = find(name, version, waitMs);
        Requests.requireInside(array, box, box, memory.length());
        long leftMs = left(waitMs, begin);
        // A sealed version is all there, or was dropped: no server need wait for pieces.
        long pieceMs = version < 0 ? 0 : leftMs;
        try {
            move(new ArrayList<>(), ArrayConstants.GET, array, box, memory, pieceMs, leftMs);
            return array.version();
        } catch (ArrayException e) {
            boolean isDropped = version < 0 && e.status() == ArrayStatus.UNKNOWN;
            isDropped &= !unanswered.contains(memory);
            if (!isDropped || versions(name, array.version(), left(waitMs, begin)).length == 0) {
                throw e;
            }
        }
        return get(name, version, box, memory, left(waitMs, begin)); // a later one is there
    }

    private long left(long waitMs, long begin) {
        return Math.max(0, waitMs - (now() - begin) / 1_000_000);
    }

    /**
     * Puts or gets what each server has of a box, and waits for these and other calls.
     *
     * @param pieceMs how long a server may wait before it begins
     * @param waitMs how long the calls may take beside their timeout
     */
    private void move(
            List<ArrayCall> calls,
            int operation,
            ArrayDescription array,
            Box box,
            NntiBuffer memory,
            long pieceMs,
            long waitMs) {
        if (unanswered.contains(memory)) {
            throw new IllegalStateException("a server may still use this memory: release it");
        }
        PacedMessages.Starter<Box, ArrayCall> starter =
                (place, piece) -> {
                    ArrayRequest request = request(array, place, pieceMs);
                    Requests.encode(piece, request.box());
                    Requests.encode(box, request.memory());
                    return start(operation, request, memory, waitMs);
                };
        List<List<Box>> pieces = new ArrayList<>();
        for (int place = 0; place < services.size(); place++) {
            Box part = Split.part(array.whole(), box, place, services.size());
            if (paced == null && part != null) {
                calls.add(starter.start(place, part));
            } else {
                int elementsMax = pieceLength / array.type().size();
                pieces.add(part == null ? List.of() : Chunks.all(part, elementsMax));
            }
        }
        if (paced != null) {
            calls.addAll(paced.move(pieces, starter));
        }
        await(calls, memory);
    }

    /**
     * Shape and type of a version.
     *
     * @param version or {@link #LATEST}
     * @param waitMs milliseconds to wait until there is one; 0: fail at once
     */
    public ArrayDescription describe(String name, long version, long waitMs) {
        ArrayReply reply = ask(ArrayConstants.DESCRIBE, name, version, waitMs);
        ArrayDescription found =
                Requests.description(name, reply.number(), reply.type(), reply.shape());
        learn(found);
        return found;
    }

    /**
     * Sealed versions with a number above one, ascending; at most 1024 of them.
     *
     * @param after -1: from the first on
     * @param waitMs milliseconds to wait until there is one; 0: none may be there
     */
    public long[] versions(String name, long after, long waitMs) {
        return Requests.toArray(ask(ArrayConstants.VERSIONS, name, after, waitMs).versions());
    }

    private ArrayReply ask(int operation, String name, long version, long waitMs) {
        int home = Split.home(name, services.size());
        return start(operation, request(name, version, home, waitMs), null, waitMs).await();
    }

    /**
     * Ends all servers in order: what they have accepted is answered; what waits for pieces,
     * versions or memory is refused after a quarter minute. Over TCP, what takes more than half a
     * minute is cut off.
     *
     * @throws dev.verbena.nessie.rpc.RpcException if one has not said so
     */
    public void end() {
        services.forEach(service -> endpoint.client().kill(service, 0, timeoutMs));
    }

    private ArrayDescription find(String name, long version, long waitMs) {
        ArrayDescription found = version < 0 ? null : known.get(new Key(name, version));
        return found == null ? describe(name, version, waitMs) : found;
    }

    private long now() {
        return endpoint.transport().transport().nanoTime();
    }

    // ---- calls

    private ArrayRequest request(String name, long version, int place, long waitMs) {
        ArrayRequest request = new ArrayRequest().place(place).places(services.size());
        request.number(version).waitMs(waitMs).name().text(Requests.name(name));
        return request;
    }

    private ArrayRequest request(ArrayDescription array, int place, long waitMs) {
        ArrayRequest request = request(array.name(), array.version(), place, waitMs);
        request.type(array.type().code());
        Requests.encodeShape(array.whole(), request.shape());
        return request;
    }

    private ArrayCall start(int operation, ArrayRequest request, NntiBuffer memory, long waitMs) {
        RpcService service = services.get(request.place());
        ArrayCall call = new ArrayCall(endpoint.client(), request);
        return call.start(service, operation, memory, waitMs + timeoutMs);
    }

    /** Waits for all that use this memory; the first that failed tells how. */
    private void await(List<ArrayCall> calls, NntiBuffer memory) {
        ArrayException first = null;
        for (ArrayCall call : calls) {
            try {
                call.await();
            } catch (ArrayException e) {
                first = first == null ? e : first;
                if (call.isUnanswered() && !unanswered.contains(memory)) {
                    unanswered.add(memory);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** Calls under way fail. */
    @Override
    public void close() {
        endpoint.close();
    }
}
