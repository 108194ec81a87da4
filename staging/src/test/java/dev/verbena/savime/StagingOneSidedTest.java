package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import dev.verbena.staging.Checksum;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that puts where it may not, over {@code shm}. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingOneSidedTest {
    private static final int PAGE = 4096;

    @TempDir Path folder;

    private final StgFlyweight message = new StgFlyweight();
    private BlockingCalls calls;
    private RegisteredRegion region;
    private long connection;
    private long session;

    private StgFlyweight begin(int type) {
        return message.begin(region.buffer(0, PAGE), 0, type).session(session);
    }

    private void send() {
        calls.send(connection, region, 0, message.length());
    }

    private DirectBuffer read(int type) {
        while (true) {
            DirectBuffer received = calls.receive(connection);
            byte[] bytes = new byte[received.capacity()];
            received.getBytes(0, bytes);
            UnsafeBuffer copy = new UnsafeBuffer(bytes);
            if (message.wrap(copy, 0).type() == type) {
                return copy;
            }
        }
    }

    /** Greets and opens a dataset of two pages. */
    private long open(StagingFixture stage, int features, int placement) {
        calls = BlockingCalls.open("shm", new TransportContext().job(stage.job));
        region = calls.transport().allocate(4 * PAGE, 0);
        connection = calls.connect(stage.service.uri());
        begin(StgType.HELLO).maxBlock(PAGE).window(2).features(features);
        send();
        read(StgType.HELLO_ACK);
        session = message.session();
        begin(StgType.DATASET_OPEN)
                .open(2 * PAGE, 1, 0, placement)
                .openTexts("d", "char", region.buffer(0, PAGE), 0);
        send();
        read(StgType.DATASET_OPENED);
        return message.datasetId();
    }

    /** A server has room for 256 connections. */
    @Test
    void shouldForgetTheConnectionsOfClientsThatItRefuses() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(new RecordingSink(1));
            calls = BlockingCalls.open("shm", new TransportContext().job(stage.job));
            region = calls.transport().allocate(4 * PAGE, 0);
            byte[] wrong = new byte[StgFlyweight.TOKEN_LENGTH];
            wrong[0] = 1;
            for (int i = 0; i < 300; i++) {
                connection = calls.connect(stage.service.uri());
                begin(StgType.HELLO).maxBlock(PAGE).window(2).token(wrong);
                send();
                read(StgType.HELLO_ACK);
                assertThat(message.status()).isEqualTo(StgStatus.AUTH_FAILED);
                calls.disconnect(connection);
            }
            region.close();
            calls.close();
            assertThat(open(stage, 0, 0)).isPositive();
            close();
        }
    }

    private void close() {
        calls.disconnect(connection);
        region.close();
        calls.close();
    }

    private RemoteDescriptor grant(long id, int number) {
        begin(StgType.BLOCK_REQUEST).block(id, (long) number * PAGE, PAGE, number);
        send();
        DirectBuffer grant = read(StgType.BLOCK_GRANT);
        assertThat(message.status()).isEqualTo(StgStatus.OK);
        return new RemoteDescriptor().decode(grant, message.descriptorAt());
    }

    @Test
    @Tag("savime-18")
    @Tag("savime-19")
    void shouldReachAGrantedBlockOnlyAndOnlyUntilItIsReleased() throws Exception {
        RecordingSink sink = new RecordingSink(1).hold();
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(sink);
            long id = open(stage, 0, 0);
            RemoteDescriptor first = grant(id, 0);
            RemoteDescriptor second = grant(id, 1);
            region.buffer(PAGE, 2 * PAGE).setMemory(0, 2 * PAGE, (byte) 7);
            assertThatThrownBy(() -> calls.put(connection, region, PAGE, first, 0, 2 * PAGE))
                    .isInstanceOf(TransportException.class);
            assertThatThrownBy(() -> calls.put(connection, region, PAGE, first, PAGE, 1))
                    .isInstanceOf(TransportException.class);
            Path file = stage.memory.resolve(Long.toHexString(id) + ".data");
            byte[] after = Files.readAllBytes(file);
            assertThat(Arrays.copyOfRange(after, PAGE, 2 * PAGE)).containsOnly(0);
            calls.put(connection, region, PAGE, second, 0, PAGE);
            begin(StgType.BLOCK_RELEASE).release(id, 1, 0);
            send();
            // Its answer comes behind the release.
            begin(StgType.HEARTBEAT);
            send();
            read(StgType.HEARTBEAT);
            region.buffer(PAGE, PAGE).setMemory(0, PAGE, (byte) 9);
            assertThatThrownBy(() -> calls.put(connection, region, PAGE, second, 0, PAGE))
                    .isInstanceOf(TransportException.class);
            assertThat(Arrays.copyOfRange(Files.readAllBytes(file), PAGE, 2 * PAGE))
                    .containsOnly(7);
            close();
            sink.openAll();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @Tag("savime-39")
    void shouldFindAByteThatChangedInMemoryAndBeforeTheDisk(int placement) throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(new RecordingSink(1));
            long id = open(stage, StgFlags.FEATURE_CRC, placement);
            region.buffer(PAGE, PAGE).setMemory(0, PAGE, (byte) 7);
            int sum = new Checksum().of(region.buffer(PAGE, PAGE), 0, PAGE);
            region.buffer(2 * PAGE, PAGE).setMemory(0, PAGE, (byte) 6);
            for (int number = 0; number < 2; number++) {
                RemoteDescriptor block = grant(id, number);
                calls.put(connection, region, PAGE, block, 0, PAGE);
                if (number == 1) {
                    calls.put(connection, region, 2 * PAGE, block, 77, 1);
                }
                begin(StgType.BLOCK_RELEASE).release(id, number, sum);
                send();
            }
            begin(StgType.DATASET_SYNC).sync(id, 2 * PAGE, Checksum.combine(sum, sum, PAGE), 2);
            send();
            do {
                message.wrap(calls.receive(connection), 0);
            } while (message.type() != StgType.DATASET_ABORT
                    && message.type() != StgType.DATASET_DONE);
            assertThat(message.status()).isEqualTo(StgStatus.CHECKSUM);
            close();
        }
    }

    /** Bytes of memory behind the mappings of files that peers map. */
    private static long mappedBytes(String job) throws IOException {
        long sum = 0;
        boolean isOfJob = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                isOfJob = line.contains("verbena-stage-") || line.contains("/" + job + "/");
            } else if (isOfJob && line.startsWith("Rss:")) {
                sum += Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
            }
        }
        return sum;
    }

    @Test
    void shouldFreeThePagesOfADatasetThatIsGoneAlthoughItsClientHasThemMapped() throws Exception {
        int length = 32 << 20;
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(stage.context(new RecordingSink(1)).pool(length));
            // Not while the client makes its segment, whose pages are many for a moment.
            long before = mappedBytes(stage.job);
            StagingServer server = stage.connect();
            for (int i = 0; i < 2; i++) {
                server.dataset("d" + i, ElementType.CHAR).write(stage.memory(1, length));
                server.sync();
                server.drain(Duration.ofSeconds(30));
            }
            // Of the client's mapping, through which the pages were written.
            assertThat(stage.service.statistics().reused()).isEqualTo(1);
            assertThat(mappedBytes(stage.job) - before).isGreaterThan(length / 2);
            // There is no room for this one and the file that was kept.
            int longer = length + length / 4;
            server.dataset("longer", ElementType.CHAR).write(stage.memory(1, longer));
            server.sync();
            assertThat(mappedBytes(stage.job) - before).isLessThan(longer + length / 2);
        }
    }
}
