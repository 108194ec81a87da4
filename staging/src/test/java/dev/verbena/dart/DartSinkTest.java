package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.FileSink;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that hands messages to a sink. */
@Timeout(180)
class DartSinkTest {
    private final DartWorld world = new DartWorld("shm");
    private final Path out = world.directory.resolve("out");
    private final ScriptedSink sink = new ScriptedSink();

    /** Takes what it is allowed to take, and notes it. */
    private static final class ScriptedSink implements Sink {
        final List<SinkDataset> taken = new CopyOnWriteArrayList<>();
        final List<byte[]> contents = new CopyOnWriteArrayList<>();
        final List<Integer> together = new CopyOnWriteArrayList<>();
        final Semaphore begun = new Semaphore(0);
        final Semaphore permits = new Semaphore(0);
        volatile boolean isHanging;
        volatile boolean isDown;
        volatile Predicate<SinkDataset> refused = dataset -> false;

        @Override
        public int sessionsMax() {
            return 2;
        }

        @Override
        public SinkSession open() throws IOException {
            if (isDown) {
                throw new IOException("connection refused");
            }
            return new Session(this);
        }

        @Override
        public void close() {
            isHanging = false;
            permits.release(1 << 20);
        }
    }

    private record Session(ScriptedSink sink) implements SinkSession {
        @Override
        public void transferAll(List<SinkDataset> datasets, List<FileChannel> data)
                throws IOException {
            for (SinkDataset each : datasets) {
                if (sink.refused.test(each)) {
                    throw new SinkRejectedException("it has no use for that");
                }
            }
            SinkSession.super.transferAll(datasets, data);
            sink.together.add(datasets.size());
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            sink.begun.release();
            if (sink.isHanging) {
                sink.permits.acquireUninterruptibly();
            }
            ByteBuffer bytes = ByteBuffer.allocate((int) dataset.length());
            while (bytes.hasRemaining() && data.read(bytes, bytes.position()) >= 0) {
                // Until all is read.
            }
            sink.taken.add(dataset);
            sink.contents.add(bytes.array());
        }

        @Override
        public String command(String text) throws IOException {
            throw new SinkRejectedException("no commands");
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void begin() throws IOException {
        Files.createDirectories(out);
    }

    @AfterEach
    void end() throws IOException {
        sink.close();
        world.close();
    }

    private DartReceiver.Context context(Sink its) {
        return world.receiverContext().handler(null).directory(out.toString()).sink(its);
    }

    private static DartTicket send(DartClient client, DartMetadata metadata, int length) {
        UnsafeBuffer data = DartWorld.bytes(length, metadata.step());
        return client.sendCopy(data, 0, length, metadata, 0);
    }

    private static DartMetadata vector(long step, int length) {
        return new DartMetadata()
                .name("v" + step)
                .variable("v")
                .step(step)
                .elementType(ElementType.FLOAT64)
                .shape(length / 8);
    }

    private List<String> files() {
        try (Stream<Path> files = Files.list(out)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals(".receiving-state"))
                    .filter(name -> !name.equals(".receiving-lock"))
                    .filter(name -> !name.equals(DartReceiver.DESCRIPTIONS))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isDescribed(String name) {
        Path descriptions = out.resolve(DartReceiver.DESCRIPTIONS);
        try {
            return Files.exists(descriptions)
                    && Files.readString(descriptions).contains("\"" + name + "\"");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(DartTicket ticket) {
        ticket.await(TicketState.STREAMED, DartWorld.LIMIT_NS);
    }

    @Test
    void shouldConfirmWhatTheSinkHasAndNothingBefore() throws Exception {
        sink.isHanging = true;
        world.receive(context(sink));
        world.master(c -> c.bufferCount(6));
        DartClient client = world.client(0, c -> c.maxInFlight(4));
        // It spans more than the server's buffers: its beginning is acknowledged before.
        DartTicket large = send(client, vector(2, 600_000), 600_000);
        DartTicket small = send(client, vector(1, 800), 800);
        sink.begun.acquire(2);
        assertThat(files()).hasSize(2).allMatch(name -> name.startsWith(".receiving-sink-"));
        client.progress();
        assertThat(small.state()).isNotEqualTo(TicketState.STREAMED);
        assertThat(large.state()).isNotEqualTo(TicketState.STREAMED);
        assertThat(world.receiver.sinkStatistics().waitingCount()).isEqualTo(2);
        sink.permits.release(2);
        await(small);
        await(large);
        assertThat(sink.contents)
                .containsExactlyInAnyOrder(
                        DartWorld.bytes(800, 1).byteArray(),
                        DartWorld.bytes(600_000, 2).byteArray());
        assertThat(sink.taken)
                .extracting(SinkDataset::type, dataset -> dataset.piece().step())
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("double", 1L),
                        org.assertj.core.groups.Tuple.tuple("double", 2L));
        Await.until("the files are gone", () -> files().isEmpty());
        assertThat(world.receiver.sinkStatistics()).isEqualTo(new SinkStatistics(2, 0, 0, 0));
        assertThat(world.errors).isEmpty();
    }

    @Test
    void shouldKeepAsFilesWhatTheSinkRefuses() throws Exception {
        sink.refused = dataset -> dataset.piece().step() == 3;
        world.receive(context(sink));
        world.master();
        DartClient client = world.client(0, c -> c.maxInFlight(4));
        await(send(client, vector(3, 800), 800));
        await(send(client, vector(4, 800), 800));
        // Its shape is no shape of a piece: no sink is asked.
        await(send(client, vector(5, 800).property(DartReceiver.GLOBAL_PROPERTY, "7"), 800));
        assertThat(sink.taken).extracting(dataset -> dataset.piece().step()).containsExactly(4L);
        Await.until("two files stay", () -> files().size() == 2);
        String name = files().stream().filter(each -> each.startsWith("v3.")).findAny().get();
        assertThat(Files.readAllBytes(out.resolve(name)))
                .isEqualTo(DartWorld.bytes(800, 3).byteArray());
        assertThat(world.errors)
                .extracting(Throwable::getMessage)
                .anyMatch(text -> text.contains(name) && text.contains("no use for that"));
        Await.until("the file is described", () -> isDescribed(name));
        assertThat(world.receiver.sinkStatistics().refusedCount()).isEqualTo(2);
    }

    @Test
    void shouldWaitForASinkThatIsDown() throws Exception {
        sink.isDown = true;
        world.receive(context(sink));
        world.master();
        DartClient client = world.client(0, c -> c.maxInFlight(4));
        DartTicket ticket = send(client, vector(1, 800), 800);
        Await.until("it was tried", () -> world.receiver.sinkStatistics().retryCount() > 1);
        client.progress();
        assertThat(ticket.state()).isNotEqualTo(TicketState.STREAMED);
        assertThat(world.errors)
                .extracting(Throwable::getMessage)
                .containsExactly("the sink does not take messages, which wait: connection refused");
        sink.isDown = false;
        await(ticket);
        assertThat(sink.taken).hasSize(1);
    }

    @Test
    void shouldHandOverTheOthersWhenAFileIsGoneOrCut() throws Exception {
        sink.isDown = true;
        world.receive(context(sink));
        world.master();
        DartClient client = world.client(0, c -> c.maxInFlight(4));
        DartTicket moved = send(client, vector(1, 800), 800);
        Await.until("it waits", () -> world.receiver.sinkStatistics().waitingCount() == 1);
        Path first = out.resolve(files().get(0));
        DartTicket cut = send(client, vector(2, 800), 800);
        Await.until("both wait", () -> world.receiver.sinkStatistics().waitingCount() == 2);
        Path second = out.resolve(files().stream().filter(f -> !first.endsWith(f)).findAny().get());
        DartTicket whole = send(client, vector(3, 800), 800);
        Path away = Files.move(first, world.directory.resolve("away"));
        byte[] content = Files.readAllBytes(second);
        Files.write(second, Arrays.copyOf(content, 700));
        sink.isDown = false;
        Await.until("the sink has the third", () -> sink.taken.size() == 1);
        assertThat(sink.taken.get(0).piece().step()).isEqualTo(3);
        Await.until("it is named", () -> world.errors.size() > 1);
        assertThat(world.errors.get(1))
                .hasMessageContaining("a stored message cannot be read, and waits: " + out);
        client.progress();
        assertThat(moved.state()).isEqualTo(TicketState.TRANSFERRED);
        assertThat(cut.state()).isEqualTo(TicketState.TRANSFERRED);

        Files.write(second, content);
        Files.move(away, first);
        await(whole);
        assertThat(sink.taken).hasSize(3);
    }

    @Test
    void shouldHandOverTheOthersWhenARefusedMessageCannotGetItsName() throws Exception {
        sink.isHanging = true;
        world.receive(context(sink));
        world.master();
        DartClient client = world.client(0, c -> c.maxInFlight(8));
        DartTicket first = send(client, vector(1, 800), 800);
        DartTicket second = send(client, vector(2, 800), 800);
        sink.begun.acquire(2);
        List<String> those = files();
        // Its shape is no shape of a piece: no sink is asked.
        DartTicket gone =
                send(client, vector(3, 800).property(DartReceiver.GLOBAL_PROPERTY, "7"), 800);
        Await.until("it waits", () -> world.receiver.sinkStatistics().waitingCount() == 3);
        Path file = out.resolve(files().stream().filter(f -> !those.contains(f)).findAny().get());
        Path away = Files.move(file, world.directory.resolve("away"));
        sink.isHanging = false;
        sink.permits.release(2);
        Await.until("it is named", () -> world.errors.size() > 1);
        await(first);
        await(second);
        send(client, vector(4, 800), 800);
        Await.until("the fourth is taken", () -> sink.taken.size() == 3);
        Await.until("it is settled", () -> world.receiver.sinkStatistics().waitingCount() == 1);
        assertThat(world.receiver.sinkStatistics()).isEqualTo(new SinkStatistics(3, 0, 1, 0));
        assertThat(world.errors)
                .extracting(Throwable::getMessage)
                .anyMatch(text -> text.startsWith("a refused message keeps its name, and waits"))
                .noneMatch(text -> text.contains("stays as"));
        Files.move(away, file);
        await(gone);
        assertThat(world.receiver.sinkStatistics()).isEqualTo(new SinkStatistics(3, 1, 0, 0));
    }

    @Test
    void shouldHandOverAStepAtOnce() throws Exception {
        DartStepContext steps = new DartStepContext(step -> {}).rankCount(2).messagesPerRank(2);
        world.receive(context(sink).steps(steps));
        world.master(c -> c.bufferCount(16).clientCount(2));
        DartClient[] clients = {world.client(0), world.client(1)};
        sink.refused = dataset -> dataset.piece().step() == 2 && dataset.piece().rank() == 1;
        for (int step = 1; step <= 3; step++) {
            for (DartClient client : clients) {
                send(client, vector(step, 800).variable("v"), 800);
                send(client, vector(step, 800).variable("w"), 800);
            }
        }
        for (DartClient client : clients) {
            client.flush(DartWorld.LIMIT_NS);
        }
        // Of a step that is refused the sink gets what it takes.
        assertThat(sink.together).containsExactlyInAnyOrder(4, 1, 1, 4);
        assertThat(world.receiver.sinkStatistics()).isEqualTo(new SinkStatistics(10, 2, 0, 0));
    }

    @Test
    void shouldSayWhichPieceAMessageIs() throws Exception {
        world.receive(context(sink));
        world.master();
        DartClient client = world.client(3, c -> c.rankCount(8));
        await(send(client, vector(7, 800).variable("1st/field"), 800));
        DartMetadata own = vector(8, 800).shape(10, 10);
        own.property(DartReceiver.GLOBAL_PROPERTY, "40, 20");
        await(send(client, own.property(DartReceiver.START_PROPERTY, "30,10"), 800));
        await(send(client, new DartMetadata().name("blob"), 5));
        assertThat(sink.taken)
                .extracting(SinkDataset::piece)
                .containsExactly(
                        piece("_1st_field", 7, new long[] {8, 100}, new long[] {3, 0}, 1, 100),
                        piece("v", 8, new long[] {40, 20}, new long[] {30, 10}, 10, 10),
                        piece("blob", 0, new long[] {8, 5}, new long[] {3, 0}, 1, 5));
        assertThat(sink.taken)
                .extracting(SinkDataset::name)
                .allMatch(name -> name.matches("[A-Za-z_][A-Za-z0-9_]{0,62}"))
                .doesNotHaveDuplicates();
    }

    private static PieceMetadata piece(
            String variable, long step, long[] global, long[] start, long... shape) {
        return new PieceMetadata(variable, step, 3, global, start, shape);
    }

    @Test
    void shouldNeedADirectory() {
        DartReceiver.Context without = world.receiverContext().sink(new FileSink(out));
        assertThatThrownBy(without::settings)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a sink needs a directory");
    }

    @Test
    void shouldHaveEachMessageOnceWhenReceiversAreKilled() throws Exception {
        Path sunk = world.directory.resolve("sunk");
        String option = "sink=file:" + sunk;
        ReceiverProcess[] running = {new ReceiverProcess(out, world.receiverAt(), option)};
        try {
            DartServer master = world.master(c -> c.framePayloadMax(20_000).bufferCount(6));
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            int count = 30;
            for (int i = 0; i < count; i++) {
                int length = i % 4 == 3 ? 400_000 : 800 * (i + 1);
                send(client, vector(i, length), length);
                if (i % 6 == 5) {
                    running[0].kill();
                    running[0] = new ReceiverProcess(out, world.receiverAt(), option);
                }
            }
            client.flush(DartWorld.LIMIT_NS);
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            running[0].await("finished true");
            assertThat(running[0].exitCode()).isZero();
            try (Stream<Path> files = Files.list(sunk)) {
                assertThat(files.filter(file -> file.toString().endsWith(".raw"))).hasSize(count);
            }
            assertThat(files()).as("no message stays behind").isEmpty();
        } finally {
            running[0].close();
        }
    }
}
