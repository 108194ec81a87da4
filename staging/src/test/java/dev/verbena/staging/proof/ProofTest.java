package dev.verbena.staging.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.bootstrap.ServiceAddress;
import dev.verbena.staging.bootstrap.ServiceFile;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the kit is for: a whole protocol in one process, in fewer than 300 lines of code. */
@Timeout(120)
class ProofTest {
    private static final long BYTES_MAX = 100_000;

    @TempDir Path directory;
    private final String job = "proof" + ProcessHandle.current().pid();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final RealEnvironment environment =
            RealEnvironment.builder().job(job).errorHandler(errors::add).build();
    private final AgentHost host = new AgentHost(environment, IllegalStateException::new);

    static int length(long sequence) {
        return (int) (sequence * 7919 % ProofClient.LENGTH_MAX);
    }

    static UnsafeBuffer content(int client, long sequence) {
        byte[] bytes = new byte[length(sequence)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (client + sequence * 31 + i / 7);
        }
        return new UnsafeBuffer(bytes);
    }

    /** Every message of this client is there, whole. */
    static void requireSaved(Path saved, int client, int count) throws IOException {
        for (int sequence = 1; sequence <= count; sequence++) {
            byte[] found = Files.readAllBytes(saved.resolve("c" + client + "-" + sequence));
            assertThat(Arrays.equals(found, content(client, sequence).byteArray()))
                    .as("message %s of client %s", sequence, client)
                    .isTrue();
        }
    }

    @AfterEach
    void close() {
        host.close();
        environment.close();
    }

    private String path() {
        return directory.resolve("service").toString();
    }

    private ProofService serve(AgentHost by) {
        ProofService service = new ProofService(environment, this::open, path(), BYTES_MAX);
        service.onReady(by.start(AgentThread.builder("proof", environment).agent(service))::wakeup);
        return service;
    }

    private Transport open() {
        return Transports.open("shm", new TransportContext().job(job));
    }

    private ProofClient client(int id) {
        return new ProofClient(environment, open(), path(), id);
    }

    private static void send(ProofClient client, int id, int first, int last) {
        int[] next = {first};
        Await.until(
                () -> client.savedCount + " saved; " + client.link.whyNot(),
                () -> {
                    boolean isLeft = next[0] <= last;
                    if (isLeft && client.offer(content(id, next[0]), length(next[0]))) {
                        next[0]++;
                    }
                    client.doWork();
                    return client.savedCount == last;
                });
    }

    @Test
    void shouldPullSaveAndConfirm() throws IOException {
        ProofService service = serve(host);
        try (ProofClient one = client(1);
                ProofClient two = client(2)) {
            send(one, 1, 1, 40);
            send(two, 2, 1, 20);
        }
        assertThat(service.savedCount.get()).isEqualTo(60);
        assertThat(service.memory.reserved()).isZero();
        requireSaved(Path.of(path() + ".saved"), 1, 40);
        requireSaved(Path.of(path() + ".saved"), 2, 20);
        assertThat(errors).isEmpty();
    }

    @Test
    void shouldGoOnWithTheNextService() throws IOException {
        AgentHost first = new AgentHost(environment, IllegalStateException::new);
        serve(first);
        try (ProofClient client = client(1)) {
            send(client, 1, 1, 10);
            first.close();
            serve(host);
            send(client, 1, 11, 20);
        }
        requireSaved(Path.of(path() + ".saved"), 1, 20);
    }

    @Test
    void shouldRefuseHostileRecordsAndServeOthers() {
        ProofService service = serve(host);
        ServiceFile file = new ServiceFile(environment, path(), ServiceAddress.LENGTH_MAX);
        Await.until("published", () -> file.readCurrent() != null);
        ServiceAddress address = ServiceAddress.parse(file.readCurrent(), ProofService.PROTOCOL);
        file.close();
        List<ProofRecord> hostile = new ArrayList<>();
        for (long length : new long[] {-1, Long.MAX_VALUE, 4097, BYTES_MAX + 1}) {
            hostile.add(new ProofRecord(ProofRecord.ANNOUNCE, 7, 1, length));
        }
        hostile.add(new ProofRecord(ProofRecord.ANNOUNCE, -1, 1, 10));
        hostile.add(new ProofRecord(ProofRecord.ANNOUNCE, 7, -1, 10));
        hostile.add(new ProofRecord(99, 7, 1, 10));
        for (ProofRecord record : hostile) {
            boolean[] isDropped = new boolean[1];
            TransportHandler end =
                    new TransportHandler() {
                        @Override
                        public void onDisconnected(long connection, long context) {
                            isDropped[0] = true;
                        }
                    };
            try (BlockingCalls calls = new BlockingCalls(open());
                    RegisteredRegion region =
                            calls.transport().allocate(4096, RemoteDescriptor.REMOTE_READ);
                    RecordOutbox outbox =
                            new RecordOutbox(calls.transport(), 1, ProofRecord.LENGTH, 0)) {
                long connection = calls.connect(address.url());
                RemoteDescriptor descriptor = new RemoteDescriptor();
                region.describe(0, 4096, RemoteDescriptor.REMOTE_READ, descriptor);
                assertThat(record.send(outbox, connection, descriptor)).isTrue();
                Await.until(
                        () -> "dropped for " + record,
                        () -> calls.transport().poll(end, 64) >= 0 && isDropped[0]);
            }
        }
        try (ProofClient client = client(1)) {
            send(client, 1, 1, 5);
        }
        assertThat(service.memory.reserved()).isZero();
        // The first is reported at once, others at most once a second.
        assertThat(errors).hasSizeBetween(1, hostile.size());
    }

    @Test
    void shouldTakeFewerThan300LinesAndNothingOfAnotherProtocol() throws IOException {
        Path sources = Path.of("src/test/java/dev/verbena/staging/proof");
        long lines = 0;
        for (String name : new String[] {"ProofClient", "ProofRecord", "ProofService"}) {
            String text = Files.readString(sources.resolve(name + ".java"));
            assertThat(text).doesNotContain("dev.verbena.dart");
            lines += codeLines(text);
        }
        assertThat(lines).isBetween(100L, 299L);
    }

    private static long codeLines(String text) {
        String code = text.replaceAll("(?s)/\\*.*?\\*/", "").replaceAll("(?m)^\\s*//.*$", "");
        return Stream.of(code.split("\n")).filter(line -> !line.isBlank()).count();
    }
}
