package dev.verbena.nsim.nessie;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.rpc.ServiceSearch;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.SimulatedProcess;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nessie's own engines in virtual time, with processes that are killed and messages that wait. */
@Timeout(120)
class NessieSimulationTest {
    private static final long MS = 1_000_000;
    private static final int ECHO = 1;
    private static final int BULK = 2;
    private static final int SLOTS = 3;
    private static final int SLOT_LENGTH = 4096;
    private static final int[] DATA_LENGTHS = {8, 400, 4096, 10_000, 40_000};
    private static final int CLIENTS = 4;
    private static final int CALLS = 60;
    private static final int WINDOW = 5;
    private static final long TIMEOUT_MS = 200;

    // --long: 200 seeds instead of 12
    private static final long SEEDS = Boolean.getBoolean("verbena.long") ? 200 : 12;

    /**
     * As many words as the request asks for, all of them its mark; some are too long for a message.
     */
    private static final class Mark implements XdrValue {
        private long mark;
        private int words;

        Mark() {}

        Mark(long mark, int words) {
            this.mark = mark;
            this.words = words;
        }

        @Override
        public int encodedLength() {
            return 4 + 8 * words;
        }

        @Override
        public int encode(MutableDirectBuffer buffer, int index) {
            buffer.putInt(index, words, BIG_ENDIAN);
            for (int i = 0; i < words; i++) {
                buffer.putLong(index + 4 + 8 * i, mark, BIG_ENDIAN);
            }
            return encodedLength();
        }

        @Override
        public int decode(DirectBuffer buffer, int index, int limit) {
            words = buffer.getInt(index, BIG_ENDIAN);
            mark = buffer.getLong(index + 4, BIG_ENDIAN);
            for (int i = 0; i < words; i++) {
                if (buffer.getLong(index + 4 + 8 * i, BIG_ENDIAN) != mark) {
                    throw new XdrException("bytes of two calls");
                }
            }
            return encodedLength();
        }
    }

    /** Whether bulk data of a call are also written to; others are short enough for a message. */
    private static boolean isWritten(long mark) {
        return mark % 3 != 0;
    }

    /** What the client writes is its mark and the place; what the server writes is inverted. */
    private static long word(long mark, long at, boolean isAfter) {
        long before = mark | at << 40;
        return isAfter ? ~before : before;
    }

    private static void fill(NntiBuffer buffer, long bytes, long mark, long from, boolean isAfter) {
        for (int i = 0; i < bytes; i += Long.BYTES) {
            buffer.window().putLong(i, word(mark, from + i, isAfter));
        }
    }

    private static boolean isOf(
            NntiBuffer buffer, long bytes, long mark, long from, boolean isAfter, boolean orElse) {
        for (int i = 0; i < bytes; i += Long.BYTES) {
            long found = buffer.window().getLong(i);
            if (found != word(mark, from + i, isAfter) && found != word(mark, from + i, orElse)) {
                return false;
            }
        }
        return true;
    }

    /** Answers late and in another order than it was asked; reads and writes bulk data in parts. */
    private static final class Server implements NessieSimulation.Program {
        final Map<Long, Integer> handled = new HashMap<>();
        final List<String> wrong = new ArrayList<>();
        private final ArrayDeque<RpcCall> held = new ArrayDeque<>();
        private final Random random;
        private RpcServer rpc;
        private String url;

        Server(long seed) {
            random = new Random(seed);
        }

        @Override
        public void onStart(RpcEndpoint endpoint) {
            rpc =
                    endpoint.serve(
                            RpcServerOptions.DEFAULT
                                    .withSlots(SLOTS, SLOT_LENGTH)
                                    .withFetchTimeoutNs(100 * MS));
            rpc.register(ECHO, Mark::new, this::onCall);
            rpc.registerWithSlot(BULK, Mark::new, this::onBulk);
            url = endpoint.transport().url();
        }

        private static long mark(RpcCall call) {
            return ((Mark) call.args()).mark;
        }

        private void onBulk(RpcCall call) {
            handled.merge(mark(call), 1, Integer::sum);
            read(call, 0);
        }

        /** The client's data from this byte on; every second call has its client put them. */
        private void read(RpcCall call, long at) {
            long bytes = Math.min(SLOT_LENGTH, call.dataLength() - at);
            if (bytes == 0) {
                hold(call);
                return;
            }
            RpcCall.TransferListener then = result -> hasRead(call, at, bytes, result);
            NntiBuffer slot = call.slot();
            require(
                    call,
                    mark(call) % 4 == 3
                            ? call.startAskData(slot, 0, bytes, at, then)
                            : call.startGetData(slot, 0, bytes, at, then));
        }

        private void hasRead(RpcCall call, long at, long bytes, RpcResult result) {
            if (!require(call, result)) {
                return;
            }
            long mark = mark(call);
            if (!isOf(call.slot(), bytes, mark, at, false, false)) {
                wrong.add("call " + mark + " has data of another");
            }
            if (!isWritten(mark)) {
                read(call, at + bytes);
                return;
            }
            fill(call.slot(), bytes, mark, at, true);
            require(
                    call,
                    call.startPutData(
                            call.slot(),
                            0,
                            bytes,
                            at,
                            put -> {
                                if (require(call, put)) {
                                    read(call, at + bytes);
                                }
                            }));
        }

        private static boolean require(RpcCall call, RpcResult result) {
            if (result != RpcResult.OK) {
                call.reply(result.code(), null);
            }
            return result == RpcResult.OK;
        }

        private void onCall(RpcCall call) {
            handled.merge(mark(call), 1, Integer::sum);
            hold(call);
        }

        private void hold(RpcCall call) {
            if (random.nextBoolean()) {
                held.addFirst(call);
            } else {
                held.addLast(call);
            }
        }

        @Override
        public int doWork() {
            if (held.size() > random.nextInt(6)) {
                RpcCall call = held.remove();
                call.reply(0, call.args());
                return 1;
            }
            return held.isEmpty() ? 0 : 1;
        }
    }

    /** Calls with marks of its own; remembers how often each has ended, and how. */
    private static final class Client implements NessieSimulation.Program {
        final Map<Long, RpcResult> ends = new HashMap<>();
        final List<String> wrong = new ArrayList<>();
        private final Server server;
        private final int index;
        private RpcEndpoint endpoint;
        private ServiceSearch search;
        private int started;

        Client(Server server, int index) {
            this.server = server;
            this.index = index;
        }

        @Override
        public void onStart(RpcEndpoint itsEndpoint) {
            endpoint = itsEndpoint;
            endpoint.client().register(ECHO);
            endpoint.client().register(BULK);
        }

        @Override
        public int doWork() {
            if (search == null) {
                if (server.url == null) {
                    return 1;
                }
                search = endpoint.client().search(server.url, TIMEOUT_MS);
            }
            int work = search.look();
            while (search.service() != null && started < CALLS && started - ends.size() < WINDOW) {
                start();
                work++;
            }
            return work;
        }

        private void start() {
            long mark = (long) index << 32 | started;
            boolean isBulk = started % 2 == 1;
            Mark sent = new Mark(mark, 1 + started * 37 % (isBulk ? 40 : 400));
            Mark got = new Mark();
            NntiBuffer data = isBulk ? data(mark) : null;
            long length = isBulk ? data.length() : 0;
            started++;
            ClientRequest request = new ClientRequest();
            request.onDone(() -> ended(request, sent, got, data));
            RpcResult result =
                    endpoint.client()
                            .call(
                                    request,
                                    search.service(),
                                    isBulk ? BULK : ECHO,
                                    sent,
                                    got,
                                    data,
                                    length,
                                    TIMEOUT_MS);
            if (result != RpcResult.OK) {
                ends.putIfAbsent(mark, result);
            }
        }

        private NntiBuffer data(long mark) {
            int flags = BufferFlags.GET_SRC | BufferFlags.PUT_SRC;
            int length = DATA_LENGTHS[started / 2 % DATA_LENGTHS.length];
            NntiBuffer data =
                    endpoint.transport()
                            .alloc(
                                    length,
                                    1,
                                    isWritten(mark) ? flags | BufferFlags.PUT_DST : flags);
            fill(data, length, mark, 0, false);
            return data;
        }

        private void ended(ClientRequest request, Mark sent, Mark got, NntiBuffer data) {
            if (ends.put(sent.mark, request.result()) != null) {
                wrong.add("call " + sent.mark + " has ended twice");
            }
            boolean isOk = request.result() == RpcResult.OK;
            if (isOk && (got.mark != sent.mark || got.words != sent.words)) {
                wrong.add("call " + sent.mark + " has the answer of " + got.mark);
            }
            if (isOk && request.remoteCode() != 0) {
                wrong.add("call " + sent.mark + " was answered by " + request.remoteCode());
            }
            if (data != null) {
                boolean isAfter = isWritten(sent.mark);
                if (!isOf(data, data.length(), sent.mark, 0, isAfter, isAfter && isOk)) {
                    wrong.add("call " + sent.mark + " has data of another");
                }
                endpoint.transport().unregister(data);
            }
        }

        boolean isDone() {
            return search != null
                    && search.isDone()
                    && (search.service() == null || ends.size() == CALLS);
        }
    }

    private final List<Client> clients = new ArrayList<>();
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private Server server;
    private SimulatedProcess serving;

    private NessieSimulation simulation(long seed) {
        clients.clear();
        processes.clear();
        NessieSimulation simulation =
                new NessieSimulation(seed, TreeTopology.single(CLIENTS + 1), new NetworkContext());
        simulation.world().randomSchedule(2000);
        simulation.world().delays(5, 300_000);
        server = new Server(seed);
        serving = simulation.start("server", server);
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(new Client(server, i));
            processes.add(simulation.start("client" + i, clients.get(i)));
        }
        return simulation;
    }

    /** Whether all that live have ended all their calls. */
    private boolean isDone() {
        for (int i = 0; i < CLIENTS; i++) {
            if (!processes.get(i).isDead() && !clients.get(i).isDone()) {
                return false;
            }
        }
        return true;
    }

    private void requireOnce() {
        assertThat(server.handled.values()).containsOnly(1);
        assertThat(server.wrong).isEmpty();
        for (Client client : clients) {
            assertThat(client.wrong).isEmpty();
            client.ends.forEach(
                    (mark, result) -> {
                        if (result == RpcResult.OK) {
                            assertThat(server.handled).containsKey(mark);
                        }
                    });
        }
        assertThat(serving.errors()).isEmpty();
        processes.forEach(each -> assertThat(each.errors()).isEmpty());
    }

    @Test
    @Tag("nsim-46")
    void shouldAnswerEachCallOnceAndRepeatTheRun() {
        long[] hashes = new long[2];
        for (int run = 0; run < 2; run++) {
            try (NessieSimulation simulation = simulation(3)) {
                assertThat(simulation.world().runUntil(this::isDone, 10_000 * MS)).isTrue();
                requireOnce();
                assertThat(server.handled).hasSize(CLIENTS * CALLS);
                assertThat(clients)
                        .allSatisfy(
                                each -> assertThat(each.ends.values()).containsOnly(RpcResult.OK));
                hashes[run] = simulation.world().traceHash();
            }
        }
        assertThat(hashes[1]).isEqualTo(hashes[0]);
    }

    @Test
    @Tag("nsim-46")
    void shouldServeTheOthersWhenAClientIsKilled() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (NessieSimulation simulation = simulation(seed)) {
                int count = 5 + (int) (seed * 7 % 100);
                simulation.world().runUntil(() -> server.handled.size() >= count, 10_000 * MS);
                simulation.world().crash(processes.get(1).host());
                assertThat(simulation.world().runUntil(this::isDone, 10_000 * MS))
                        .as("seed %s", seed)
                        .isTrue();
                requireOnce();
                simulation.world().run(200 * MS);
                assertThat(server.rpc.pendingCount()).isZero();
                assertThat(server.rpc.longResultCount()).isZero();
                for (int i = 0; i < CLIENTS; i++) {
                    if (i != 1) {
                        assertThat(clients.get(i).ends.values()).containsOnly(RpcResult.OK);
                    }
                }
            }
        }
    }

    @Test
    @Tag("nsim-46")
    void shouldFailCallsWhenTheServerIsKilled() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (NessieSimulation simulation = simulation(seed)) {
                int count = 5 + (int) (seed * 7 % 100);
                simulation.world().runUntil(() -> server.handled.size() >= count, 10_000 * MS);
                simulation.world().crash(serving.host());
                assertThat(simulation.world().runUntil(this::isDone, 10_000 * MS))
                        .as("seed %s", seed)
                        .isTrue();
                requireOnce();
                assertThat(clients).anyMatch(each -> each.ends.containsValue(RpcResult.EIO));
            }
        }
    }
}
