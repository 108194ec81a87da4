package dev.verbena.nessie.service;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.rpc.ServiceSearch;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.staging.metadata.Box;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Calls array servers as an {@link ArrayClient} does, without waiting: several clients run at a
 * time in virtual time. World's thread.
 */
abstract class SimulatedArrayClient implements ProtocolAgent {
    static final long MS = 1_000_000;

    /** Of a call, beside the time that the server may let it wait. */
    private static final long TIMEOUT_MS = 200;

    private static final int MEMORY = BufferFlags.GET_SRC | BufferFlags.PUT_DST;

    /** What went wrong for the client to see: it never may. */
    final List<String> wrong = new ArrayList<>();

    private final SimulatedProcess process;
    private final List<SimulatedArrayServer> servers;
    private final long waitMs;
    private final List<ServiceSearch> searches = new ArrayList<>();
    private final List<Batch> batches = new ArrayList<>();
    private RpcEndpoint endpoint;
    private boolean isBegun;
    private int endedCount;

    /** Calls that end together; none: they could not be made. */
    private record Batch(
            List<ArrayCall> calls, boolean isComplete, long limitNs, Consumer<Boolean> end) {
        boolean isDone() {
            return calls.stream().allMatch(ArrayCall::isDone);
        }

        boolean isOk() {
            return isComplete && calls.stream().noneMatch(ArrayCall::hasFailed);
        }
    }

    /**
     * Starts on a host.
     *
     * @param servers which have begun
     * @param waitMs how long a server may let a call wait
     */
    SimulatedArrayClient(Host host, List<SimulatedArrayServer> servers, long waitMs) {
        this.servers = List.copyOf(servers);
        this.waitMs = waitMs;
        process = host.start("array-client");
        process.run(List.of(this));
    }

    /** All servers were found, or are gone. */
    abstract void begin();

    final SimulatedProcess process() {
        return process;
    }

    /** Whether nothing is under way any more. */
    final boolean isDone() {
        return isBegun && batches.isEmpty();
    }

    /** How often something has ended. */
    final int endedCount() {
        return endedCount;
    }

    final NntiBuffer allocate(int bytes) {
        return endpoint.transport().alloc(bytes, 1, MEMORY);
    }

    final void release(NntiBuffer memory) {
        endpoint.transport().unregister(memory);
    }

    private long nowNs() {
        return process.nanoClock().nanoTime();
    }

    private ArrayRequest request(ArrayDescription array, int place) {
        ArrayRequest request = new ArrayRequest().place(place).places(servers.size());
        request.number(array.version()).waitMs(waitMs).name().text(array.name());
        request.type(array.type().code());
        Requests.encodeShape(array.whole(), request.shape());
        return request;
    }

    /** Puts or gets what each server has of a box; {@code end} gets whether all went well. */
    final void move(
            int operation,
            ArrayDescription array,
            Box box,
            NntiBuffer memory,
            Consumer<Boolean> end) {
        List<ArrayRequest> requests = new ArrayList<>();
        for (int place = 0; place < servers.size(); place++) {
            Box part = Split.part(array.whole(), box, place, servers.size());
            if (part != null) {
                ArrayRequest request = request(array, place);
                Requests.encode(part, request.box());
                Requests.encode(box, request.memory());
                requests.add(request);
            }
        }
        call(operation, requests, memory, end);
    }

    /** Seals a version, at its home when it is sealed at all other servers. */
    final void seal(ArrayDescription array, Consumer<Boolean> end) {
        int home = Split.home(array.name(), servers.size());
        List<ArrayRequest> others = new ArrayList<>();
        for (int place = 0; place < servers.size(); place++) {
            if (place != home) {
                others.add(request(array, place));
            }
        }
        List<ArrayRequest> last = List.of(request(array, home));
        call(
                ArrayConstants.SEAL,
                others,
                null,
                isOk -> {
                    if (isOk) {
                        call(ArrayConstants.SEAL, last, null, end);
                    } else {
                        end.accept(false);
                    }
                });
    }

    private void call(
            int operation, List<ArrayRequest> requests, NntiBuffer memory, Consumer<Boolean> end) {
        List<ArrayCall> calls = new ArrayList<>();
        long limitMs = waitMs + TIMEOUT_MS;
        for (ArrayRequest request : requests) {
            RpcService service = searches.get(request.place()).service();
            if (service != null) {
                ArrayCall call = new ArrayCall(endpoint.client(), request);
                calls.add(call.start(service, operation, memory, limitMs));
            }
        }
        boolean isComplete = calls.size() == requests.size();
        batches.add(new Batch(calls, isComplete, nowNs() + (limitMs + 1) * MS, end));
    }

    private int endBatches() {
        List<Batch> done = batches.stream().filter(Batch::isDone).toList();
        batches.removeAll(done);
        for (Batch batch : done) {
            endedCount++;
            if (batch.limitNs - nowNs() < 0) {
                wrong.add("calls ended after their time limit");
            }
            batch.end.accept(batch.isOk());
        }
        return done.size();
    }

    @Override
    public void onStart() {
        endpoint = SimulatedArrayServer.endpoint(process);
        for (int code = ArrayConstants.PUT; code <= ArrayConstants.OPEN; code++) {
            endpoint.client().register(code);
        }
        servers.forEach(each -> searches.add(endpoint.client().search(each.url(), TIMEOUT_MS)));
    }

    @Override
    public int doWork() {
        int work = endpoint.doWork() + searches.stream().mapToInt(ServiceSearch::look).sum();
        if (!isBegun && searches.stream().allMatch(ServiceSearch::isDone)) {
            isBegun = true;
            begin();
            work++;
        }
        return work + endBatches();
    }

    @Override
    public long nextDeadlineNs() {
        return endpoint.nextDeadlineNs();
    }

    @Override
    public void onClose() {
        endpoint.close();
    }

    @Override
    public String roleName() {
        return "array-client";
    }
}
