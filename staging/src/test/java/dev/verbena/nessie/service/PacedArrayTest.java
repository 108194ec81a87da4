package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.flesnet.dfs.PacedExchange;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.exchange.ExchangeSchedule;
import dev.verbena.staging.exchange.RecordCarrier;
import dev.verbena.staging.metadata.Box;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Boxes that several clients put and get at several servers, paced by a schedule. */
@Timeout(120)
class PacedArrayTest {
    private static final int SERVERS = 3;
    private static final int ROWS = 12;
    private static final int COLUMNS = 64;
    private static final int ROW_LENGTH = COLUMNS * 8;
    private static final long NEVER_MS = 20;

    @TempDir Path directory;

    private static ArrayDescription grid(long version) {
        Box whole = Box.whole(ROWS, COLUMNS);
        return new ArrayDescription("t", version, ArrayType.INT64, whole);
    }

    private static Box rows(int first, int count) {
        return Box.of(new long[] {first, 0}, new long[] {count, COLUMNS});
    }

    /** As another schedule; notes what is sent, and holds one message back. */
    private static final class Noted implements ExchangeSchedule {
        final List<Long> sent = new ArrayList<>();
        final List<Long> early = new ArrayList<>();
        private final ExchangeSchedule as;
        private volatile long held = Long.MAX_VALUE;
        private volatile long reached = -1;

        Noted(ExchangeSchedule as) {
            this.as = as;
        }

        @Override
        public int receivers() {
            return as.receivers();
        }

        @Override
        public int receiver(long k) {
            return as.receiver(k);
        }

        @Override
        public long dueNs(long k, long nowNs) {
            reached = k;
            return k >= held ? NOT_OPEN : as.dueNs(k, nowNs);
        }

        @Override
        public void onSent(long k, long nowNs) {
            sent.add(k);
            if (as.dueNs(k, nowNs) - nowNs > 0) {
                early.add(k);
            }
            as.onSent(k, nowNs);
        }

        @Override
        public void onAcknowledged(long k, long nowNs) {
            as.onAcknowledged(k, nowNs);
        }

        @Override
        public boolean takeRecord(MutableDirectBuffer buffer, int offset, long nowNs) {
            return as.takeRecord(buffer, offset, nowNs);
        }

        @Override
        public void onRecord(DirectBuffer buffer, int offset, long latencyNs, long nowNs) {
            as.onRecord(buffer, offset, latencyNs, nowNs);
        }
    }

    /** From one client to the other, in this process. */
    private record Pipe(Queue<byte[]> to, Queue<byte[]> from) implements RecordCarrier {
        @Override
        public void send(DirectBuffer record) {
            byte[] bytes = new byte[ExchangeSchedule.RECORD_LENGTH];
            record.getBytes(0, bytes);
            to.add(bytes);
        }

        @Override
        public boolean receive(MutableDirectBuffer record) {
            byte[] bytes = from.poll();
            if (bytes == null) {
                return false;
            }
            record.putBytes(0, bytes);
            return true;
        }
    }

    /** One round of the servers in an interval, and a history of two. */
    private static PacedExchange exchange(int clients, int self) {
        DfsParameters parameters = DfsParameters.PAPER.intervals(SERVERS, 2);
        return new PacedExchange(parameters, clients, SERVERS, self);
    }

    /** The first five messages of client 1 are rows 4, 8, 0, 5 and 9: each server has four rows. */
    @Test
    void shouldPutPiecesInTheOrderOfTheSchedule() throws Exception {
        try (ArrayServers servers =
                new ArrayServers(directory, SERVERS, ArrayServerOptions.DEFAULT)) {
            Noted schedule = new Noted(exchange(2, 1));
            schedule.held = 5;
            CompletableFuture<Void> put =
                    CompletableFuture.runAsync(
                            () -> {
                                try (ArrayClient writer = servers.connect()) {
                                    writer.pace(schedule, RecordCarrier.NONE, ROW_LENGTH);
                                    NntiBuffer memory = writer.allocate(ROWS * ROW_LENGTH);
                                    writer.put(grid(1), grid(1).whole(), memory);
                                }
                            });
            ArrayClient reader = servers.client();
            NntiBuffer row = reader.allocate(ROW_LENGTH);
            for (int there : new int[] {4, 8, 0, 5, 9}) {
                reader.get("t", 1, rows(there, 1), row, ArrayServers.LIMIT_MS);
            }
            for (int notYet : new int[] {1, 2, 3, 6, 7, 10, 11}) {
                assertThatThrownBy(() -> reader.get("t", 1, rows(notYet, 1), row, NEVER_MS))
                        .as("row " + notYet)
                        .isInstanceOf(ArrayException.class);
            }
            assertThat(put).isNotDone();
            assertThat(schedule.reached).isEqualTo(5);
            schedule.held = Long.MAX_VALUE;
            put.join();
            assertThat(schedule.sent).hasSize(ROWS).isSorted().endsWith(ROWS - 1L);
            assertThat(servers.errors).isEmpty();
        }
    }

    /** Each puts its half of the columns of some versions, and gets the other's half. */
    private void redistribute(
            ArrayServers servers, int self, Noted schedule, RecordCarrier carrier, int versions) {
        Box own = half(self);
        Box others = half(1 - self);
        try (ArrayClient client = servers.connect()) {
            client.pace(schedule, carrier, ROW_LENGTH / 2);
            NntiBuffer from = client.allocate(ROWS * ROW_LENGTH / 2);
            NntiBuffer into = client.allocate(ROWS * ROW_LENGTH / 2);
            for (int version = 0; version < versions; version++) {
                PlainArray plain = new PlainArray(grid(version), version);
                plain.fill(own, from);
                client.put(grid(version), own, from);
                client.get("t", version, others, into, ArrayServers.LIMIT_MS);
                assertThat(plain.mismatch(others, into)).isEqualTo(-1);
            }
        }
    }

    private static Box half(int self) {
        return Box.of(new long[] {0, self * COLUMNS / 2}, new long[] {ROWS, COLUMNS / 2});
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "auto"})
    void shouldRedistributeAsTheSchedulerSays(String scheme) throws Exception {
        int versions = 10;
        Queue<byte[]> first = new ConcurrentLinkedQueue<>();
        Queue<byte[]> second = new ConcurrentLinkedQueue<>();
        List<Pipe> pipes = List.of(new Pipe(first, second), new Pipe(second, first));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ArrayServers servers =
                new ArrayServers(scheme, directory, SERVERS, ArrayServerOptions.DEFAULT)) {
            List<PacedExchange> exchanges = List.of(exchange(2, 0), exchange(2, 1));
            List<Noted> schedules = exchanges.stream().map(Noted::new).toList();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                int self = i;
                Runnable client =
                        () ->
                                redistribute(
                                        servers,
                                        self,
                                        schedules.get(self),
                                        pipes.get(self),
                                        versions);
                ends.add(CompletableFuture.runAsync(client, threads));
            }
            ends.forEach(CompletableFuture::join);
            long intervals = 2L * versions * ROWS / SERVERS;
            long proposed = 0;
            for (int i = 0; i < 2; i++) {
                assertThat(schedules.get(i).sent).hasSize(2 * versions * ROWS).isSorted();
                assertThat(schedules.get(i).early).isEmpty();
                assertThat(exchanges.get(i).pacer().open()).isEqualTo(intervals - 1);
                proposed += intervals - exchanges.get(i).pacer().improvisedCount();
            }
            // Who is behind has a proposal in time for every interval but the first two.
            assertThat(proposed).isGreaterThan(intervals / 2);
            assertThat(servers.errors).isEmpty();
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void shouldRefuseAScheduleOfOtherServers() throws Exception {
        try (ArrayServers servers =
                new ArrayServers(directory, SERVERS, ArrayServerOptions.DEFAULT)) {
            ArrayClient client = servers.client();
            PacedExchange two = new PacedExchange(DfsParameters.PAPER, 1, 2, 0);
            assertThatThrownBy(() -> client.pace(two, RecordCarrier.NONE, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("receivers");
        }
    }

    /** A schedule goes on behind a put that fails, and the client names what is wrong. */
    @Test
    void shouldGoOnBehindAFailure() throws Exception {
        try (ArrayServers servers =
                new ArrayServers(directory, SERVERS, ArrayServerOptions.DEFAULT)) {
            ArrayClient client = servers.client();
            Noted schedule = new Noted(exchange(1, 0));
            client.pace(schedule, RecordCarrier.NONE, ROW_LENGTH);
            NntiBuffer memory = client.allocate(ROWS * ROW_LENGTH);
            client.put(grid(1), rows(0, 6), client.allocate(6 * ROW_LENGTH));
            assertThatThrownBy(() -> client.put(grid(1), grid(1).whole(), memory))
                    .isInstanceOf(ArrayException.class)
                    .hasMessageContaining("overlap");
            client.put(grid(2), grid(2).whole(), memory);
            client.get("t", 2, grid(2).whole(), memory, 0);
            assertThat(schedule.sent).isSorted().doesNotHaveDuplicates();
        }
    }
}
