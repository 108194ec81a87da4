package dev.verbena.nessie.service;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.agent.VirtualClock;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The listener for TCP: hostile bytes, and the client in Python. */
@Timeout(120)
class ArrayTcpTest {
    private static final ArrayServerOptions OPTIONS =
            ArrayServerOptions.DEFAULT.withDoor("127.0.0.1", 0);

    @TempDir Path directory;

    private static Socket connect(ArrayServers servers) throws IOException {
        return connect(servers.servers.get(0).port());
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(30_000);
        return socket;
    }

    @Test
    void shouldSurviveHostileBytes() throws Exception {
        // --long: 5,000 connections instead of 200
        int rounds = Boolean.getBoolean("verbena.long") ? 5_000 : 200;
        try (ArrayServers servers = new ArrayServers(directory, 1, OPTIONS)) {
            SplittableRandom random = new SplittableRandom(23);
            for (int round = 0; round < rounds; round++) {
                try (Socket socket = connect(servers)) {
                    byte[] bytes = new byte[random.nextInt(600)];
                    random.nextBytes(bytes);
                    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                    if (random.nextBoolean()) {
                        out.writeInt(ArrayConstants.TCP_MAGIC);
                        out.writeInt(1 + random.nextInt(6));
                        out.writeInt(random.nextInt(512));
                        out.writeLong(random.nextLong());
                    }
                    out.write(bytes);
                    socket.shutdownOutput();
                    // An answer, or the end; nothing that takes long.
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // Reset by the server, which had not read all.
                }
            }
            ArrayClient client = servers.client();
            assertThat(client.versions("t", -1, 0)).isEmpty();
            assertThat(servers.errors).isEmpty();
        }
    }

    /** The piece's box is free again. */
    @Test
    void shouldGiveUpThePieceOfAClientThatGoesAway() throws Exception {
        try (ArrayServers servers = new ArrayServers(directory, 1, OPTIONS)) {
            Box whole = Box.whole(100);
            ArrayDescription array = new ArrayDescription("t", 1, ArrayType.INT8, whole);
            try (Socket socket = connect(servers)) {
                beginPut(socket, array);
                socket.getOutputStream().write(new byte[50]);
            }
            ArrayClient client = servers.client();
            NntiBuffer memory = client.allocate(100);
            dev.verbena.agent.Await.until(
                    "the box is free",
                    () -> {
                        try {
                            client.put(array, whole, memory);
                            return true;
                        } catch (ArrayException e) {
                            assertThat(e.status()).isEqualTo(ArrayStatus.OVERLAP);
                            return false;
                        }
                    });
            assertThat(servers.errors).isEmpty();
        }
    }

    /** The server now awaits the 100 bytes of the piece. */
    private static DataInputStream beginPut(Socket socket, ArrayDescription array)
            throws IOException {
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        out.writeInt(ArrayConstants.TCP_MAGIC);
        sendPut(out, array);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        assertThat(in.readInt()).isEqualTo(ArrayConstants.TCP_PULL);
        in.readFully(new byte[in.readInt()]);
        return in;
    }

    private static void sendPut(DataOutputStream out, ArrayDescription array) throws IOException {
        byte[] request = put(array);
        out.writeInt(ArrayConstants.PUT);
        out.writeInt(request.length);
        out.writeLong(100);
        out.write(request);
    }

    /** The server's answer says so, and comes before the client gives up. */
    @Test
    void shouldSayWhatAPutOrASealHasWaitedFor() throws Exception {
        ArrayServerOptions options = OPTIONS.withMemory(100);
        try (ArrayServers servers = new ArrayServers(directory, 1, options);
                ArrayClient client = servers.connect(2_000)) {
            Box whole = Box.whole(100);
            ArrayDescription array = new ArrayDescription("t", 1, ArrayType.INT8, whole);
            ArrayDescription next = new ArrayDescription("t", 2, ArrayType.INT8, whole);
            NntiBuffer memory = client.allocate(100);
            try (Socket socket = connect(servers)) {
                beginPut(socket, array);
                ArrayServiceContract.refused(
                        ArrayStatus.DEADLINE,
                        "array 't', version 2: there is no memory for piece [0:100], after 2000 ms",
                        () -> client.put(next, whole, memory));
                ArrayServiceContract.refused(
                        ArrayStatus.DEADLINE,
                        "array 't', version 1: it is not on disk yet, after 2000 ms",
                        () -> client.seal("t", 1));
            }
            client.put(next, whole, memory);
            assertThat(servers.errors).isEmpty();
        }
    }

    @Test
    void shouldAnswerWhatItHasTakenOverTcpBeforeItEnds() throws Exception {
        try (ArrayServers servers = new ArrayServers(directory, 1, OPTIONS);
                Socket socket = connect(servers)) {
            Box whole = Box.whole(100);
            ArrayDescription array = new ArrayDescription("t", 1, ArrayType.INT8, whole);
            DataInputStream in = beginPut(socket, array);
            servers.client().end();
            try (Socket late = connect(servers)) {
                DataOutputStream out = new DataOutputStream(late.getOutputStream());
                out.writeInt(ArrayConstants.TCP_MAGIC);
                dev.verbena.agent.Await.until(
                        "it is refused",
                        () -> says(late, out, array).equals("the server is ending"));
            }
            socket.getOutputStream().write(new byte[100]);
            assertThat(answer(in).status()).isZero();
            assertThat(in.read()).as("the server has ended").isEqualTo(-1);
            dev.verbena.agent.Await.until(
                    "it has ended", () -> servers.servers.get(0).exitCode() != null);
            assertThat(servers.servers.get(0).exitCode()).isZero();
            assertThat(servers.errors).isEmpty();
        }
    }

    /** One sends a byte now and then, the other waits for what cannot come any more. */
    @Test
    void shouldNotWaitForeverForClientsOverTcpBeforeItEnds() throws Exception {
        VirtualClock clock = new VirtualClock();
        List<Throwable> errors = new ArrayList<>();
        try (RealEnvironment environment =
                        RealEnvironment.builder()
                                .nanoClock(clock)
                                .errorHandler(errors::add)
                                .build();
                NntiTransport network =
                        new NntiTransport(
                                Transports.open("shm", new TransportContext()),
                                NntiOptions.ONE_SIDED)) {
            ArrayServer.Part part =
                    new ArrayServer.Part(environment, directory.toString(), OPTIONS);
            part.onStart(network);
            try (Socket slow = connect(part.port);
                    Socket waiting = connect(part.port)) {
                DataOutputStream out = new DataOutputStream(slow.getOutputStream());
                out.writeInt(ArrayConstants.TCP_MAGIC);
                Box whole = Box.whole(100);
                sendPut(out, new ArrayDescription("t", 1, ArrayType.INT8, whole));
                awaitWork("it is asked for its data", part, () -> available(slow) == 24);
                out = new DataOutputStream(waiting.getOutputStream());
                out.writeInt(ArrayConstants.TCP_MAGIC);
                ArrayTcpIdleTest.ask(waiting, 86_400_000);
                awaitWork(
                        "it waits", part, () -> part.nextDeadlineNs() != ProtocolAgent.NO_DEADLINE);
                assertThat(part.tryEnd()).isFalse();
                for (int seconds = 0; seconds < 30; seconds += 10) {
                    clock.advanceNs(10_000_000_000L);
                    slow.getOutputStream().write(1);
                    dev.verbena.agent.Await.until("it is read", () -> part.doWork() > 0);
                    assertThat(part.tryEnd()).isFalse();
                }
                clock.advanceNs(1);
                assertThat(part.tryEnd()).isTrue();
                part.onClose();
                assertThat(new String(waiting.getInputStream().readAllBytes(), US_ASCII))
                        .contains("the server is ending");
            }
        }
        assertThat(errors).isEmpty();
    }

    private static void awaitWork(String what, ArrayServer.Part part, BooleanSupplier isDone) {
        dev.verbena.agent.Await.until(
                what,
                () -> {
                    part.doWork();
                    return isDone.getAsBoolean();
                });
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** What a server answers to a piece that overlaps another one. */
    private static String says(Socket socket, DataOutputStream out, ArrayDescription array) {
        try {
            sendPut(out, array);
            return answer(new DataInputStream(socket.getInputStream())).text().text();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static ArrayReply answer(DataInputStream in) throws IOException {
        assertThat(in.readInt()).isEqualTo(ArrayConstants.TCP_ANSWER);
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        ArrayReply reply = new ArrayReply();
        reply.decode(new org.agrona.concurrent.UnsafeBuffer(bytes), 0, bytes.length);
        return reply;
    }

    private WeakReference<Transport> closedServer(RealEnvironment environment) {
        Transport transport = Transports.open("shm", new TransportContext());
        ArrayServer.start(environment, transport, directory.toString(), OPTIONS).close();
        return new WeakReference<>(transport);
    }

    /** Its environment may be that of many servers, one after the other. */
    @Test
    void shouldNotBeKeptByTheStreamsAfterItsEnd() {
        try (RealEnvironment environment = RealEnvironment.builder().build()) {
            WeakReference<Transport> closed = closedServer(environment);
            for (int i = 0; i < 20 && closed.get() != null; i++) {
                System.gc();
            }
            assertThat(closed.get()).isNull();
        }
    }

    private static byte[] put(ArrayDescription array) {
        dev.verbena.nessie.service.wire.ArrayRequest request =
                new dev.verbena.nessie.service.wire.ArrayRequest();
        request.places(1).number(array.version()).type(array.type().code());
        request.name().text(array.name());
        Requests.encodeShape(array.whole(), request.shape());
        Requests.encode(array.whole(), request.box());
        Requests.encode(array.whole(), request.memory());
        byte[] bytes = new byte[request.encodedLength()];
        request.encode(new org.agrona.concurrent.UnsafeBuffer(bytes), 0);
        return bytes;
    }

    private static final String PROGRAM =
            """
            import sys
            import numpy
            import verbena, verbena_arrays
            with verbena.arrays(*sys.argv[1:], timeout=60) as service:
                whole = numpy.arange(35 * 20, dtype="float64").reshape(35, 20)
                service.put("t", 4, whole[:20], shape=whole.shape)
                service.put("t", 4, whole[20:, :3], start=(20, 0), shape=whole.shape)
                try:
                    service.put("t", 4, whole[:2], shape=whole.shape)
                    print("overlapping piece taken")
                except verbena_arrays.ArrayError as error:
                    print(error.status, error)
                try:
                    service.get("t", None, 4, wait=0.05)
                    print("uncovered box given")
                except verbena_arrays.ArrayError as error:
                    print(error.status)
                service.put("t", 4, whole[20:, 3:], start=(20, 3), shape=whole.shape)
                service.seal("t", 4)
                for version in service.versions("t"):
                    print(version, (service.get("t", None, version) == whole).all())
                part = service.get("t", numpy.s_[10:30, 2:7])
                print(part.shape, (part == whole[10:30, 2:7]).all())
                print(service.get("java", numpy.s_[3:6]).tolist())
                for box in numpy.s_[3], numpy.s_[..., 3:4]:
                    try:
                        service.get("java", box)
                    except ValueError as error:
                        print(error)
                for name, array in ("n" * 500, whole), ("none", whole[:0]):
                    try:
                        service.put(name, 0, array)
                    except ValueError as error:
                        print(error)
                print(service.get("java", numpy.s_[7:]).tolist())
            try:
                verbena.arrays()
            except ValueError as error:
                print(error)
            """;

    @Test
    void shouldServeNumPy() throws Exception {
        Path program = Files.writeString(directory.resolve("program.py"), PROGRAM);
        try (ArrayServers servers = new ArrayServers(directory, 2, OPTIONS)) {
            ArrayClient client = servers.client();
            NntiBuffer memory = client.allocate(8 * 8);
            for (int i = 0; i < 8; i++) {
                memory.window().putLong(8 * i, 100 + i, ByteOrder.LITTLE_ENDIAN);
            }
            Box whole = Box.whole(8);
            client.put(new ArrayDescription("java", 0, ArrayType.INT64, whole), whole, memory);
            client.seal("java", 0);
            List<String> said =
                    python(
                            program.toString(),
                            "127.0.0.1:" + servers.servers.get(0).port(),
                            "127.0.0.1:" + servers.servers.get(1).port());
            assertThat(said)
                    .isEqualTo(
                            List.of(
                                    "OVERLAP array 't', version 4: piece [0:2, 0:20] overlaps"
                                            + " piece [0:17, 0:20]",
                                    "DEADLINE",
                                    "4 True",
                                    "(20, 5) True",
                                    "[103, 104, 105]",
                                    "box 3 is not made of slices",
                                    "box (Ellipsis, slice(3, 4, None)) is not made of slices",
                                    "name of 500 bytes; possible are 1 to 128",
                                    "array of float64, shape (0, 20)",
                                    "[107]",
                                    "no address of a server"));
            client.get(
                    "t", 4, Box.of(new long[] {34, 18}, new long[] {1, 1}), client.allocate(8), 0);
            assertThat(servers.errors).isEmpty();
        }
    }

    /** Each line: what the program got, and the operations that it asked for. */
    @Test
    void shouldTakeNothingForAnAnswerInPythonThatIsNone() throws Exception {
        String failed = "FAILED server 0 of 1: ";
        assertThat(python("src/test/python/scripted_arrays.py"))
                .containsExactly(
                        "interrupted: " + failed + "the connection was closed: connect again [4]",
                        "spontaneous: [1, 3] [5, 5]",
                        "nothing pushed: " + failed + "0 bytes were moved instead of 64 [4, 2]",
                        "half pushed: " + failed + "32 bytes were moved instead of 64 [4, 2]",
                        "pushed: given 8 [4, 2]",
                        "pulled: " + failed + "what came is no message of the array service [4, 2]",
                        "pushed at once: "
                                + failed
                                + "what came is no message of the array service [4]",
                        "status: FAILED of later [4]",
                        "type 0: " + failed + "an array of type 0, shape (8,) [4]",
                        "type 11: " + failed + "an array of type 11, shape (8,) [4]",
                        "too long: " + failed + "an answer of 4294967295 bytes [4]",
                        "dropped, then a later one: given 8 [4, 2, 5, 4, 2]",
                        "dropped: UNKNOWN dropped [4, 2, 5]",
                        "dropped version 3: UNKNOWN dropped [4, 2]",
                        "longest: 1024 [5]");
    }

    /** What a program printed. */
    private List<String> python(String... arguments) throws Exception {
        String python = "/usr/bin/python3";
        assumeTrue(hasNumPy(python), "no Python with NumPy (Debian: python3-numpy)");
        List<String> command = new ArrayList<>(List.of(python, "-B"));
        command.addAll(List.of(arguments));
        Path out = directory.resolve("out");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
        builder.environment().put("PYTHONPATH", "../clients/python");
        Process process = builder.start();
        try {
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readAllLines(out);
    }

    static boolean hasNumPy(String python) throws InterruptedException {
        try {
            Process found =
                    new ProcessBuilder(python, "-c", "import numpy")
                            .redirectErrorStream(true)
                            .start();
            found.getInputStream().readAllBytes();
            return found.waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
