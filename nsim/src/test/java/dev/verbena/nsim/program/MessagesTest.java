package dev.verbena.nsim.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sends and receives, against MPI's rules and against the puts that they consist of. */
@Timeout(120)
class MessagesTest {
    private static final int LONG_MESSAGE = 5_000;
    private static final int REQUEST = 900;
    private static final int END = 901;

    private static SimulationResult run(int processes, NetworkContext context, Program program) {
        return new Simulation(TreeTopology.leafSpine(8, 2, 2), context)
                .processes(processes)
                .run(program);
    }

    private static SimulationResult run(int processes, Program program) {
        return run(processes, new NetworkContext(), program);
    }

    private static long[] values(int count, long seed) {
        SeededRandom random = new SeededRandom(seed);
        long[] values = new long[count];
        Arrays.setAll(values, i -> random.next());
        return values;
    }

    @Test
    @Tag("nsim-56")
    void shouldReceiveWhatWasSentShortOrLong() {
        for (int count : new int[] {0, 1, 100, LONG_MESSAGE}) {
            long[] data = values(count, count);
            long[] into = new long[count + 3];
            Receipt receipt = new Receipt();
            assertThat(receipt.source()).isEqualTo(Rank.ANY);
            run(
                    4,
                    rank -> {
                        if (rank.rank() == 3) {
                            rank.send(1, data, 7);
                        } else if (rank.rank() == 1) {
                            rank.recv(3, into, 7, receipt);
                        }
                    });
            assertThat(Arrays.copyOf(into, count)).isEqualTo(data);
            assertThat(Arrays.copyOfRange(into, count, count + 3)).containsOnly(0);
            assertThat(receipt.source()).isEqualTo(3);
            assertThat(receipt.tag()).isEqualTo(7);
            assertThat(receipt.bytes()).isEqualTo(8L * count);
        }
    }

    @Test
    @Tag("nsim-56")
    void shouldTakeTheValuesOfTheMomentAndPassThemOn() {
        long[] sum = new long[6];
        run(
                6,
                rank -> {
                    long[] token = {0};
                    if (rank.rank() > 0) {
                        rank.recv(rank.rank() - 1, token, 0);
                    }
                    rank.calculate(() -> token[0] = 3 * token[0] + 1);
                    if (rank.rank() < 5) {
                        rank.send(rank.rank() + 1, token, 0);
                        rank.calculate(() -> token[0] += 1000);
                    }
                    rank.calculate(() -> sum[rank.rank() == 5 ? 5 : 0] = token[0]);
                });
        assertThat(sum[5]).isEqualTo(364);
    }

    @Test
    @Tag("nsim-56")
    void shouldChooseByTagAndSenderAndTakeAnythingWhereAsked() {
        long[][] got = new long[4][1];
        Receipt any = new Receipt();
        Receipt anySender = new Receipt();
        run(
                3,
                rank -> {
                    if (rank.rank() == 0) {
                        rank.computeNanos(100_000);
                        rank.recv(2, got[0], 5);
                        rank.recv(1, got[1], Rank.ANY);
                        rank.recv(Rank.ANY, got[2], 5, anySender);
                        rank.recv(Rank.ANY, got[3], Rank.ANY, any);
                        return;
                    }
                    for (int tag = 4; tag <= 5; tag++) {
                        rank.send(0, new long[] {10L * rank.rank() + tag}, tag);
                    }
                });
        assertThat(got[0][0]).isEqualTo(25);
        assertThat(got[1][0]).isEqualTo(14);
        assertThat(got[2][0]).isEqualTo(15);
        assertThat(anySender.source()).isEqualTo(1);
        assertThat(got[3][0]).isEqualTo(24);
        assertThat(any.source()).isEqualTo(2);
        assertThat(any.tag()).isEqualTo(4);
    }

    /** The short one is in memory long before the other, and counts behind it all the same. */
    @Test
    @Tag("nsim-56")
    void shouldNotLetAMessageOvertakeAnotherOfItsSender() {
        long[] first = new long[LONG_MESSAGE];
        long[] second = new long[LONG_MESSAGE];
        Receipt one = new Receipt();
        Receipt two = new Receipt();
        NetworkContext context = new NetworkContext().shortMax(8L * LONG_MESSAGE);
        run(
                2,
                context,
                rank -> {
                    if (rank.rank() == 0) {
                        rank.isend(1, values(LONG_MESSAGE, 1), 1);
                        rank.isend(1, new long[] {42}, 2);
                        rank.awaitAll();
                    } else {
                        rank.irecv(Rank.ANY, first, Rank.ANY, one);
                        rank.irecv(Rank.ANY, second, Rank.ANY, two);
                        rank.awaitAll();
                    }
                });
        assertThat(one.tag()).isEqualTo(1);
        assertThat(first).isEqualTo(values(LONG_MESSAGE, 1));
        assertThat(two.tag()).isEqualTo(2);
        assertThat(second[0]).isEqualTo(42);
    }

    private record Sent(int from, int to, int tag, long[] data) {}

    private record Received(int from, int to, int tag, long[] into, Receipt receipt) {}

    /**
     * Rounds of random messages; in each, every rank starts its sends and receives in an order of
     * its own and waits for all. Which receive gets what follows from the order of each sender's
     * messages and each receiver's receives alone, so it can be computed without time.
     */
    @Test
    @Tag("nsim-56")
    void shouldAgreeWithASequentialModelInRandomPrograms() {
        for (int seed = 1; seed <= 40; seed++) {
            SeededRandom random = new SeededRandom(seed);
            int processes = 2 + random.below(9);
            List<List<Sent>> sends = new ArrayList<>();
            List<List<Received>> receives = new ArrayList<>();
            for (int round = 0; round < 3; round++) {
                sends.add(new ArrayList<>());
                receives.add(new ArrayList<>());
                draw(random, processes, sends.get(round), receives.get(round));
            }
            long order = random.next();
            run(
                    processes,
                    new NetworkContext().overheadPs(seed % 3 * 300_000L),
                    rank -> perform(rank, new SeededRandom(order ^ rank.rank()), sends, receives));
            for (int round = 0; round < 3; round++) {
                check("seed " + seed, sends.get(round), receives.get(round));
            }
        }
    }

    private static void draw(
            SeededRandom random, int processes, List<Sent> sends, List<Received> receives) {
        for (int i = 0; i < 40; i++) {
            int from = random.below(processes);
            int to = (from + 1 + random.below(processes - 1)) % processes;
            int tag = random.below(3);
            int count = random.below(4) == 0 ? 1024 + random.below(3000) : random.below(200);
            sends.add(new Sent(from, to, tag, values(count, random.next())));
            // A receive for each, with its tag; the order of receives is another than of sends.
            int at = random.below(receives.size() + 1);
            receives.add(at, new Received(from, to, tag, new long[4096], new Receipt()));
        }
        // The last receive from a sender may take any tag: it gets what the others leave.
        for (int i = 0; i < receives.size(); i++) {
            Received r = receives.get(i);
            boolean isLast =
                    receives.stream().skip(i + 1L).noneMatch(o -> o.from == r.from && o.to == r.to);
            if (isLast) {
                receives.set(i, new Received(r.from, r.to, Rank.ANY, r.into, r.receipt));
            }
        }
    }

    private static void perform(
            Rank rank, SeededRandom random, List<List<Sent>> sends, List<List<Received>> receives) {
        for (int round = 0; round < sends.size(); round++) {
            List<Sent> out = new ArrayList<>(sends.get(round));
            List<Received> in = new ArrayList<>(receives.get(round));
            out.removeIf(s -> s.from != rank.rank());
            in.removeIf(r -> r.to != rank.rank());
            while (!out.isEmpty() || !in.isEmpty()) {
                if (in.isEmpty() || !out.isEmpty() && random.below(2) == 0) {
                    Sent s = out.remove(0);
                    rank.isend(s.to, s.data, s.tag);
                } else {
                    Received r = in.remove(0);
                    rank.irecv(r.from, r.into, r.tag, r.receipt);
                }
                rank.computeNanos(random.below(2) * random.below(3000));
            }
            rank.awaitAll();
            // Or a receive for any tag could meet a message of the next round.
            rank.barrier();
        }
    }

    /** Each receive in its turn takes its sender's first message that fits and is left. */
    private static void check(String name, List<Sent> sends, List<Received> receives) {
        List<Sent> left = new ArrayList<>(sends);
        for (Received r : receives) {
            Sent expected =
                    left.stream()
                            .filter(s -> s.from == r.from && s.to == r.to)
                            .filter(s -> r.tag == Rank.ANY || s.tag == r.tag)
                            .findFirst()
                            .orElseThrow();
            left.remove(expected);
            assertThat(r.receipt.tag()).as(name).isEqualTo(expected.tag);
            assertThat(r.receipt.source()).as(name).isEqualTo(expected.from);
            assertThat(r.receipt.bytes()).as(name).isEqualTo(8L * expected.data.length);
            assertThat(Arrays.copyOf(r.into, expected.data.length))
                    .as(name)
                    .isEqualTo(expected.data);
        }
    }

    /** With any sender: each message once, those of a sender in order. */
    @Test
    @Tag("nsim-56")
    void shouldDeliverEachMessageOnceAndInOrderOfItsSenderWhoeverIsFirst() {
        int processes = 9;
        int each = 20;
        long[][] got = new long[(processes - 1) * each][600];
        run(
                processes,
                rank -> {
                    if (rank.rank() == 4) {
                        for (long[] into : got) {
                            rank.irecv(Rank.ANY, into, 0);
                        }
                    } else {
                        SeededRandom random = new SeededRandom(rank.rank());
                        for (int i = 0; i < each; i++) {
                            long[] data = new long[1 + random.below(600)];
                            data[0] = 1000L * rank.rank() + i;
                            rank.isend(4, data, 0);
                        }
                    }
                    rank.awaitAll();
                });
        int[] next = new int[processes];
        for (long[] message : got) {
            int from = (int) (message[0] / 1000);
            assertThat(message[0] % 1000).isEqualTo(next[from]++);
        }
        assertThat(Arrays.stream(next).sum()).isEqualTo(got.length);
    }

    /** A short message is one put; a long one a put to ask, a get, and a put to tell. */
    @Test
    @Tag("nsim-56")
    void shouldTakeTheTimesOfThePutsAndGets() {
        for (long overhead : new long[] {0, 600_000}) {
            for (long bytes : new long[] {0, 8, 2048, 8192, 8193, 100_000}) {
                for (long lateNs : new long[] {0, 500, 200_000}) {
                    NetworkContext context = new NetworkContext().overheadPs(overhead);
                    Program messages = rank -> pass(rank, bytes, lateNs, MessagesTest::message);
                    Program puts = rank -> pass(rank, bytes, lateNs, MessagesTest::puts);
                    SimulationResult one = run(6, context, messages);
                    SimulationResult other = run(6, context, puts);
                    for (int rank = 0; rank < 6; rank++) {
                        assertThat(one.endPs(rank)).isEqualTo(other.endPs(rank)).isPositive();
                    }
                    assertThat(one.traceHash()).isEqualTo(other.traceHash());
                }
            }
        }
    }

    private interface Step {
        void pass(Rank rank, boolean isSender, int peer, long bytes);
    }

    /** Along a ring, beginning at rank 0, with computations in between. */
    private static void pass(Rank rank, long bytes, long lateNs, Step step) {
        int size = rank.size();
        int left = (rank.rank() + size - 1) % size;
        int right = (rank.rank() + 1) % size;
        if (rank.rank() == 0) {
            step.pass(rank, true, right, bytes);
            rank.computeNanos(1 + lateNs);
            step.pass(rank, false, left, bytes);
        } else {
            rank.computeNanos(1 + lateNs * rank.rank());
            step.pass(rank, false, left, bytes);
            step.pass(rank, true, right, bytes);
        }
    }

    private static void message(Rank rank, boolean isSender, int peer, long bytes) {
        if (isSender) {
            rank.send(peer, bytes, 3);
        } else {
            rank.recv(peer, bytes, 3);
        }
    }

    private static void puts(Rank rank, boolean isSender, int peer, long bytes) {
        if (bytes <= 8192) {
            if (isSender) {
                rank.put(peer, bytes, 3);
            } else {
                rank.poll(peer, 3);
            }
        } else if (isSender) {
            rank.put(peer, 0, REQUEST);
            rank.poll(peer, END);
        } else {
            rank.poll(peer, REQUEST);
            rank.complete(rank.get(peer, bytes));
            rank.put(peer, 0, END);
        }
    }

    @Test
    @Tag("nsim-56")
    void shouldSendInLoopsAndWaitForWhatWasStartedBefore() {
        long[] got = new long[1];
        long[] sum = new long[1];
        SimulationResult result =
                run(
                        2,
                        rank -> {
                            if (rank.rank() == 0) {
                                long before = rank.isend(1, LONG_MESSAGE * 8L, 1);
                                long put = rank.put(1, 100_000, 1);
                                rank.loop(
                                        50,
                                        () -> {
                                            rank.send(1, new long[] {2}, 0);
                                            rank.put(1, 8, 0);
                                        });
                                rank.complete(put);
                                rank.await(before);
                            } else {
                                rank.loop(
                                        50,
                                        () -> {
                                            rank.recv(0, got, 0);
                                            rank.calculate(() -> sum[0] += got[0]);
                                        });
                                rank.computeNanos(10_000_000);
                                rank.recv(0, LONG_MESSAGE * 8L, 1);
                            }
                        });
        assertThat(sum[0]).isEqualTo(100);
        assertThat(result.endPs(0)).isGreaterThan(10_000_000_000L);
        assertThat(result.pollPs(0)).isGreaterThan(9_000_000_000L);
    }

    @Test
    @Tag("nsim-56")
    void shouldSayWhatIsWrong() {
        assertThatThrownBy(() -> run(2, rank -> rank.recv(Rank.ANY, 8, 3)))
                .isInstanceOf(SimulationException.class)
                .hasMessageContaining("rank 0 waits in await for receive(from any, tag 3)");
        assertThatThrownBy(() -> run(2, rank -> rank.send(1 - rank.rank(), 100_000, 3)))
                .isInstanceOf(SimulationException.class)
                .hasMessageContaining("a send that its receiver has not received");
        assertThatThrownBy(
                        () ->
                                run(
                                        2,
                                        rank -> {
                                            rank.isend(1 - rank.rank(), 16, 3);
                                            rank.recv(1 - rank.rank(), 8, 3);
                                        }))
                .isInstanceOf(SimulationException.class)
                .hasMessageContaining("receives 16 bytes from rank")
                .hasMessageContaining("room for 8");
        assertThatThrownBy(() -> run(2, rank -> rank.await(0)))
                .hasMessageContaining("await: rank 0 has started nothing with handle 0");
        assertThatThrownBy(() -> run(2, rank -> rank.send(2, 8, 0)))
                .hasMessageContaining("there is no rank 2 among 2");
        assertThatThrownBy(() -> run(2, rank -> rank.recv(1, 8, -2)))
                .hasMessageContaining("tag -2 is neither");
        assertThatThrownBy(() -> run(2, rank -> rank.bcast(2, 8)))
                .hasMessageContaining("root 2 among 2 ranks");
        assertThatThrownBy(() -> run(2, rank -> rank.alltoall(new long[3], new long[3])))
                .hasMessageContaining("an array of 3 values, where 2 belong");
    }

    @Test
    void shouldSendToItselfWhereThatIsAllowed() {
        Topology topology = TreeTopology.single(2);
        NetworkContext context = new NetworkContext().isLoopback(true);
        for (int count : new int[] {1, LONG_MESSAGE}) {
            long[] into = new long[count];
            new Simulation(topology, context)
                    .processes(2)
                    .run(
                            rank -> {
                                long request = rank.irecv(rank.rank(), into, 0);
                                rank.send(rank.rank(), values(count, 9), 0);
                                rank.await(request);
                            });
            assertThat(into).isEqualTo(values(count, 9));
        }
    }
}
