package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.NessieClient;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiPair;
import dev.verbena.nessie.rpc.wire.TraceRequest;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces of a server's requests, which clients begin and end. */
@Timeout(60)
class RpcTraceTest {
    private static final int ECHO = 1;
    private static final int REFUSE = 2;
    private static final String HEAD =
            "arrived_ns,args_ns,queue_ns,handler_ns,reply_ns,opcode,id,code,client";

    @TempDir Path folder;

    private final TransportContext context = NntiPair.context();
    private final RealEnvironment environment = RealEnvironment.builder().job("trace").build();

    @AfterEach
    void close() {
        environment.close();
    }

    private NessieServer server(UnaryOperator<NessieServer.Builder> options) {
        NessieServer.Builder builder =
                NessieServer.builder(environment, Transports.open("shm", context))
                        .on(ECHO, Bytes::new, call -> call.reply(0, call.args()))
                        .on(REFUSE, call -> call.reply(7, null));
        return options.apply(builder).start();
    }

    private NessieClient client(NessieServer server) {
        return NessieClient.connect(
                environment, Transports.open("shm", context), server.url(), 20_000);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void shouldWriteALineForEachRequest(int threads) {
        try (NessieServer server =
                        server(b -> b.threads(threads).traces(folder.toString(), 1 << 20));
                NessieClient client = client(server)) {
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            client.trace("requests.csv");
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            // So long that the server fetches them.
            client.call(ECHO, new Bytes(1 << 20), new Bytes()).join();
            assertThatThrownBy(() -> client.call(REFUSE, null, new Bytes()).join());
            assertThatThrownBy(() -> client.call(99, null, new Bytes()).join());
            client.trace("");
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            Path file = folder.resolve("requests.csv");
            Await.until("four requests are written", () -> lines(file).size() >= 5);
            List<String> lines = lines(file);
            assertThat(lines).hasSize(5).startsWith(HEAD);
            int unknown = RpcResult.ENOTSUP.code();
            List<String[]> rows = lines.stream().skip(1).map(each -> each.split(",")).toList();
            assertThat(rows)
                    .extracting(row -> row[5] + " " + row[7])
                    .containsExactly("1 0", "1 0", "2 7", "99 " + unknown);
            assertThat(rows).allMatch(row -> row.length == 9 && row[8].startsWith("shm://"));
            assertThat(rows)
                    .allSatisfy(
                            row ->
                                    assertThat(Stream.of(row).limit(5).mapToLong(Long::parseLong))
                                            .allMatch(ns -> ns >= 0));
            assertThat(Long.parseLong(rows.get(1)[1])).as("long arguments").isPositive();
        }
    }

    @Test
    void shouldTraceTheOperationsThatAreNamed() {
        try (NessieServer server = server(b -> b.traces(folder.toString(), 1 << 20));
                NessieClient client = client(server)) {
            client.trace("some", REFUSE);
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            assertThatThrownBy(() -> client.call(REFUSE, null, new Bytes()).join());
            client.trace("next");
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            Await.until("the next is written", () -> lines(folder.resolve("next")).size() == 2);
            Await.until("one is written", () -> lines(folder.resolve("some")).size() == 2);
            assertThat(lines(folder.resolve("some")).get(1)).matches("([0-9]+,){5}2,.*");
        }
    }

    @Test
    void shouldBoundTheFile() throws IOException {
        try (NessieServer server = server(b -> b.traces(folder.toString(), 1000));
                NessieClient client = client(server)) {
            client.trace("short");
            for (int i = 0; i < 100; i++) {
                client.call(ECHO, new Bytes(8), new Bytes()).join();
            }
            Path file = folder.resolve("short");
            Await.until("it is nearly full", () -> file.toFile().length() > 800);
            client.trace("");
            client.call(ECHO, new Bytes(8), new Bytes()).join();
            assertThat(file).content().hasSizeLessThanOrEqualTo(1000).endsWith("\n");
        }
    }

    @Test
    void shouldRefuseNamesThatAreNotOfNewFilesInItsFolder() throws IOException {
        Path own = Files.createDirectory(folder.resolve("traces"));
        Files.writeString(own.resolve("there"), "kept");
        Files.writeString(folder.resolve("outside"), "kept");
        Files.createSymbolicLink(own.resolve("link"), folder.resolve("outside"));
        try (NessieServer server = server(b -> b.traces(own.toString(), 1 << 20));
                NessieClient client = client(server)) {
            String absolute = folder.resolve("outside").toString();
            for (String name :
                    List.of("..", ".", "../outside", absolute, "a\0b", "a\nb", "a\\b", "a/b")) {
                requireRefused(client, name, RpcResult.EINVAL);
            }
            requireRefused(client, "there", RpcResult.EEXIST);
            requireRefused(client, "link", RpcResult.EEXIST);
            assertThatThrownBy(() -> client.trace("x".repeat(129)))
                    .cause()
                    .isInstanceOf(IllegalArgumentException.class);
            for (int i = 1; i < 64; i++) {
                client.trace("trace" + i);
            }
            requireRefused(client, "trace64", RpcResult.EEXIST);
            client.call(ECHO, new Bytes(8), new Bytes()).join();
        }
        assertThat(folder.resolve("outside")).hasContent("kept");
        assertThat(own.resolve("there")).hasContent("kept");
        assertThat(folder).isDirectoryNotContaining("glob:**/a*");
    }

    @Test
    void shouldRefuseAllUnlessItsOwnerAllowsTraces() {
        try (NessieServer server = server(b -> b);
                NessieClient client = client(server)) {
            requireRefused(client, "trace", RpcResult.EPERM);
            requireRefused(client, "", RpcResult.EPERM);
        }
    }

    private static void requireRefused(NessieClient client, String name, RpcResult why) {
        assertThatThrownBy(() -> client.trace(name))
                .cause()
                .isInstanceOfSatisfying(
                        RpcException.class, e -> assertThat(e.remoteCode()).isEqualTo(why.code()))
                .hasMessageContaining(why.toString());
    }

    /** Neither with a trace nor without one. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotAllocate(boolean isTraced) {
        try (RpcPair pair = new RpcPair("shm", RpcServerOptions.DEFAULT)) {
            pair.server.allowTraces(environment.store(folder.toString()), 64 << 20);
            RpcEndpoint client = pair.client();
            RpcService service = pair.service(client);
            TraceRequest args = new TraceRequest();
            args.file().text(isTraced ? "trace" : "");
            ClientRequest request = new ClientRequest();
            client.client().call(request, service, Opcode.TRACE_RESET, args, null, null, 0, 20_000);
            pair.pump("traced", request::isDone);
            assertThat(request.remoteCode()).isZero();
            long[] sink = new long[1];
            AllocationMeter.requireNone(
                    () -> {
                        for (int i = 0; i < 1000; i++) {
                            client.client()
                                    .call(
                                            request,
                                            service,
                                            Opcode.NULL,
                                            null,
                                            null,
                                            null,
                                            0,
                                            20_000);
                            while (!request.isDone()) {
                                pair.step();
                                sink[0]++;
                            }
                        }
                    });
            assertThat(request.result()).isEqualTo(RpcResult.OK);
            assertThat(folder.resolve("trace").toFile().exists()).isEqualTo(isTraced);
        }
    }
}
