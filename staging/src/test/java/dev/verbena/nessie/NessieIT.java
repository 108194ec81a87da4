package dev.verbena.nessie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.EventQueue;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.Opcode;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcException;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrOpaque;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers as processes of their own, also killed ones. */
@Timeout(120)
class NessieIT {
    private final String job = "nessie-it" + ProcessHandle.current().pid();
    private final RealEnvironment environment =
            RealEnvironment.builder().job(job).errorHandler(e -> {}).build();

    private Transport open() {
        return Transports.open(
                "shm", new TransportContext().job(job).peerTimeoutNs(1_000_000_000L));
    }

    /** What killed processes have left in shared memory. */
    @AfterEach
    void sweep() throws IOException {
        environment.close();
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            try (Stream<Path> files = Files.walk(left)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /** Eight clients on one thread; each keeps some calls under way. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4})
    @Tag("nessie-R21")
    void shouldAnswerEachOfManyCallsOnce(int threads) throws Exception {
        int count = 12_500;
        try (NessieProcess server = NessieProcess.start("serve", job, "" + threads)) {
            List<Caller> callers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                callers.add(new Caller(RpcEndpoint.over(open(), e -> {}), server.url()));
            }
            while (callers.stream().anyMatch(each -> each.answered < count)) {
                callers.forEach(each -> each.step(count));
            }
            for (Caller each : callers) {
                assertThat(each.failed).isZero();
                assertThat(each.endpoint.client().lateCount()).as("answers to no call").isZero();
                each.endpoint.close();
            }
            try (NessieClient client =
                    NessieClient.connect(environment, open(), server.url(), 60_000)) {
                XdrInts handled = new XdrInts(true, 1);
                client.call(NessieProcess.COUNT, null, handled).join();
                assertThat(handled.get(0)).isEqualTo(8 * count);
                requireDoubled(client);
            }
        }
    }

    /** Calls without arguments, some at a time. */
    private static final class Caller {
        private final RpcEndpoint endpoint;
        private final RpcService service;
        private final ClientRequest[] requests = new ClientRequest[16];
        private int started;
        private int answered;
        private int failed;

        Caller(RpcEndpoint endpoint, String url) {
            this.endpoint = endpoint;
            service = endpoint.client().getService(url, 60_000);
            endpoint.client().register(NessieProcess.NOTHING);
            for (int i = 0; i < requests.length; i++) {
                ClientRequest request = new ClientRequest();
                request.onDone(
                        () -> {
                            answered++;
                            failed += request.result() == RpcResult.OK ? 0 : 1;
                        });
                requests[i] = request;
            }
        }

        void step(int count) {
            for (ClientRequest each : requests) {
                boolean isNew = each.state() == ClientRequest.State.NULL;
                if (started < count && (isNew || each.isDone())) {
                    started++;
                    endpoint.client()
                            .call(
                                    each,
                                    service,
                                    NessieProcess.NOTHING,
                                    null,
                                    null,
                                    null,
                                    0,
                                    60_000);
                }
            }
            endpoint.doWork();
        }
    }

    private static void requireDoubled(NessieClient client) {
        for (int length : new int[] {1, 1000, NessieProcess.LENGTH_MAX}) {
            ByteBuffer data = ByteBuffer.allocateDirect(length);
            for (int i = 0; i < length; i++) {
                data.put(i, (byte) i);
            }
            client.call(NessieProcess.DOUBLE, null, null, data).join();
            for (int i = 0; i < length; i++) {
                assertThat(data.get(i)).isEqualTo((byte) (2 * i));
            }
        }
    }

    @Test
    @Tag("nessie-R18")
    void shouldEndTheProcessByAKill() throws Exception {
        try (NessieProcess server = NessieProcess.start("serve", job, "0");
                NessieClient client =
                        NessieClient.connect(environment, open(), server.url(), 10_000)) {
            client.kill();
            assertThat(server.exitCode()).isZero();
        }
        try (NessieProcess server = NessieProcess.start("serve", job, "2");
                RpcEndpoint endpoint =
                        new RpcEndpoint(
                                new NntiTransport(open(), NntiOptions.ONE_SIDED), e -> {})) {
            RpcService service = endpoint.client().getService(server.url(), 10_000);
            endpoint.client().kill(service, 9, 1000);
            while (service.peer().state() == NntiPeer.State.READY) {
                endpoint.doWork();
            }
            assertThat(server.exitCode()).isEqualTo(9);
        }
    }

    @Test
    void shouldFailCallsOfAKilledServer() throws Exception {
        try (NessieProcess server = NessieProcess.start("serve", job, "0");
                NessieClient client =
                        NessieClient.connect(environment, open(), server.url(), 20_000)) {
            client.call(Opcode.NULL, null, null).join();
            server.kill();
            assertThatThrownBy(() -> client.call(Opcode.NULL, null, null).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(RpcException.class);
            assertThatThrownBy(client::kill)
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(RpcException.class);
        }
    }

    /** The client has its answer's header at most. */
    @Test
    @Tag("nessie-R7")
    void shouldFreeTheLongResultOfAKilledClient() throws Exception {
        long limitNs = 30_000_000_000L;
        XdrOpaque result = new XdrOpaque(true, 100_000);
        try (RpcEndpoint endpoint =
                new RpcEndpoint(new NntiTransport(open(), NntiOptions.ONE_SIDED), e -> {})) {
            RpcServer server = endpoint.serve(RpcServerOptions.DEFAULT.withFetchTimeoutNs(limitNs));
            server.register(NessieProcess.DOUBLE, null, call -> call.reply(0, result));
            String url = endpoint.transport().url();
            try (NessieProcess client = NessieProcess.start("leave", job, url)) {
                while (server.longResultCount() == 0) {
                    assertThat(client.isAlive()).isTrue();
                    endpoint.doWork();
                }
                client.kill();
                long killedNs = System.nanoTime();
                while (server.longResultCount() > 0 || server.pendingCount() > 0) {
                    endpoint.doWork();
                }
                assertThat(System.nanoTime() - killedNs).isLessThan(limitNs);
            }
        }
    }

    @Test
    @Tag("nessie-N30")
    void shouldFailOperationsOfAKilledPeer() throws Exception {
        try (NessieProcess peer = NessieProcess.start("memory", job);
                NntiTransport network = new NntiTransport(open(), NntiOptions.DEFAULT)) {
            NntiPeer to = network.connect(peer.url(), 10_000);
            NntiBuffer source = network.alloc(64, 1, BufferFlags.SEND_SRC);
            // The queue of the peer is never emptied, so some wait when it dies.
            List<WorkRequest> sends = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                WorkRequest send = new WorkRequest();
                network.send(to, source, null, send);
                sends.add(send);
            }
            network.progress();
            peer.kill();
            long start = System.nanoTime();
            network.awaitAll(sends, 10_000);
            assertThat(System.nanoTime() - start).isLessThan(3_000_000_000L);
            assertThat(sends).allMatch(WorkRequest::isComplete);
            assertThat(sends.get(99).status().result()).isEqualTo(NntiResult.EIO);
            assertThat(network.send(to, source, null, new WorkRequest())).isEqualTo(NntiResult.EIO);
        }
    }

    @Test
    @Tag("nessie-N26")
    void shouldCountTheAtomicsOfFourProcesses(@TempDir Path folder) throws Exception {
        int adds = 100_000;
        int locks = 200;
        long[] changes = new long[3];
        try (NntiTransport network = new NntiTransport(open(), NntiOptions.DEFAULT)) {
            network.onVariableChanged(index -> changes[index]++);
            NntiBuffer memory = network.alloc(8, 1, BufferFlags.PUT_DST | BufferFlags.GET_SRC);
            memory.attach(new EventQueue(1)); // nobody takes what it tells of puts and gets
            byte[] handle = new byte[BufferHandle.LENGTH_OF_ONE];
            memory.handle().encode(new UnsafeBuffer(handle), 0);
            Path file = Files.write(folder.resolve("handle"), handle);
            List<NessieProcess> processes = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                String where = network.url() + "," + file;
                processes.add(NessieProcess.start("atomics", job, where, "" + adds, "" + locks));
            }
            while (processes.stream().anyMatch(NessieProcess::isAlive)) {
                network.progress();
                network.transport().await(network.transport().nanoTime() + 1_000_000);
            }
            for (NessieProcess each : processes) {
                assertThat(each.exitCode()).as(each::output).isZero();
                each.close();
            }
            while (network.progress() > 0) {
                continue; // what the last of them told
            }
            assertThat(network.variable(AtomicsProgram.SUM)).isEqualTo(4L * adds);
            assertThat(changes[AtomicsProgram.SUM]).isEqualTo(4L * adds);
            assertThat(memory.window().getLong(0)).isEqualTo(4L * locks);
            assertThat(network.variable(AtomicsProgram.LOCK)).isZero();
        }
    }
}
