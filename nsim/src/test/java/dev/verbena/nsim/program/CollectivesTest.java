package dev.verbena.nsim.program;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.Arrays;
import java.util.function.LongBinaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Collectives, against plain loops over all ranks' values, and against puts written out. */
@Timeout(120)
class CollectivesTest {
    private static final int[] SIZES = {1, 2, 3, 5, 8, 12, 17, 32};

    private static SimulationResult run(int processes, Program program) {
        NetworkContext context = new NetworkContext().overheadPs(600_000);
        return new Simulation(TreeTopology.leafSpine(8, 4, 4), context)
                .processes(processes)
                .run(program);
    }

    private static long[][] values(int ranks, int count, long seed) {
        SeededRandom random = new SeededRandom(seed);
        long[][] values = new long[ranks][count];
        for (long[] each : values) {
            Arrays.setAll(each, i -> random.next());
        }
        return values;
    }

    private static long[] combined(long[][] values, LongBinaryOperator operator) {
        long[] sum = values[0].clone();
        for (int rank = 1; rank < values.length; rank++) {
            for (int i = 0; i < sum.length; i++) {
                sum[i] = operator.applyAsLong(sum[i], values[rank][i]);
            }
        }
        return sum;
    }

    @Test
    @Tag("nsim-56")
    void shouldGiveTheResultsOfMpi() {
        for (int size : SIZES) {
            int root = size * 5 / 7;
            int count = 1 + size % 3 * 700;
            long[][] given = values(size, count, size);
            long[][] reduced = new long[size][count];
            long[][] allReduced = new long[size][count];
            long[][] broadcast = values(size, count, 99);
            long[][] parts = values(size, 3 * size, 7);
            long[][] exchanged = new long[size][3 * size];
            run(
                    size,
                    rank -> {
                        int r = rank.rank();
                        rank.computeNanos(r * 777L % 5000);
                        rank.bcast(root, broadcast[r]);
                        rank.reduce(root, given[r], reduced[r], Long::sum);
                        rank.allreduce(given[r], allReduced[r], Math::max);
                        rank.alltoall(parts[r], exchanged[r]);
                    });
            for (int r = 0; r < size; r++) {
                assertThat(broadcast[r]).isEqualTo(values(size, count, 99)[root]);
                assertThat(reduced[r])
                        .isEqualTo(r == root ? combined(given, Long::sum) : new long[count]);
                assertThat(allReduced[r]).isEqualTo(combined(given, Math::max));
                for (int from = 0; from < size; from++) {
                    assertThat(Arrays.copyOfRange(exchanged[r], 3 * from, 3 * from + 3))
                            .isEqualTo(Arrays.copyOfRange(parts[from], 3 * r, 3 * r + 3));
                }
            }
        }
    }

    /** A receive for anything must not see them, and who is late is waited for. */
    @Test
    @Tag("nsim-56")
    void shouldHoldEverybodyAtABarrierAndBeInvisibleToReceives() {
        for (int size : SIZES) {
            long[] got = new long[1];
            long latest = 5_000_000_000L;
            SimulationResult result =
                    run(
                            size,
                            rank -> {
                                boolean isFirst = rank.rank() == 0;
                                boolean isLast = rank.rank() == size - 1 && size > 1;
                                long request = isFirst && size > 1 ? rank.irecv(-1, got, -1) : -1;
                                if (rank.rank() == size / 2) {
                                    rank.computePs(latest);
                                }
                                rank.barrier();
                                rank.allreduce(8);
                                if (isLast) {
                                    rank.send(0, new long[] {77}, 0);
                                }
                                if (request >= 0) {
                                    rank.await(request);
                                }
                            });
            assertThat(got[0]).isEqualTo(size > 1 ? 77 : 0);
            for (int rank = 0; rank < size; rank++) {
                assertThat(result.endPs(rank)).isGreaterThanOrEqualTo(latest);
            }
        }
    }

    private static void exchange(Rank rank, int to, int from, long bytes, int tag) {
        if (to >= 0) {
            rank.put(to, bytes, tag);
        }
        if (from >= 0) {
            rank.poll(from, tag);
        }
    }

    private static void barrierOfPuts(Rank rank) {
        int p = rank.size();
        for (int k = 1, step = 0; k < p; k *= 2, step++) {
            exchange(rank, (rank.rank() + k) % p, (rank.rank() - k + p) % p, 8, step);
        }
    }

    private static void broadcastOfPuts(Rank rank, int root, long bytes) {
        int p = rank.size();
        int v = (rank.rank() - root + p) % p;
        int rounds = 32 - Integer.numberOfLeadingZeros(p - 1);
        for (int k = rounds - 1; k >= 0; k--) {
            int bit = 1 << k;
            if (v % (2 * bit) == bit) {
                rank.poll((v - bit + root) % p, 40);
            } else if (v % (2 * bit) == 0 && v + bit < p) {
                rank.put((v + bit + root) % p, bytes, 40);
            }
        }
    }

    private static void reduceOfPuts(Rank rank, int root, long bytes) {
        int p = rank.size();
        int v = (rank.rank() - root + p) % p;
        for (int bit = 1; bit < p; bit *= 2) {
            if (v % (2 * bit) == bit) {
                rank.put((v - bit + root) % p, bytes, 50);
                return;
            } else if (v + bit < p) {
                rank.poll((v + bit + root) % p, 50);
            }
        }
    }

    private static void allreduceOfPuts(Rank rank, long bytes) {
        int power = Integer.highestOneBit(rank.size());
        int r = rank.rank();
        if (r >= power) {
            exchange(rank, r - power, r - power, bytes, 60);
            return;
        }
        boolean isTwo = r + power < rank.size();
        exchange(rank, -1, isTwo ? r + power : -1, bytes, 60);
        for (int bit = 1; bit < power; bit *= 2) {
            exchange(rank, r ^ bit, r ^ bit, bytes, 61);
        }
        exchange(rank, isTwo ? r + power : -1, -1, bytes, 60);
    }

    private static void alltoallOfPuts(Rank rank, long bytes) {
        int p = rank.size();
        for (int i = 1; i < p; i++) {
            exchange(rank, (rank.rank() + i) % p, (rank.rank() - i + p) % p, bytes, 70);
        }
    }

    private static void equal(int size, Program collective, Program puts) {
        SimulationResult one = run(size, collective);
        SimulationResult other = run(size, puts);
        for (int rank = 0; rank < size; rank++) {
            assertThat(one.endPs(rank)).isEqualTo(other.endPs(rank));
        }
        assertThat(one.putCount()).isEqualTo(other.putCount());
        assertThat(one.putBytes()).isEqualTo(other.putBytes());
        assertThat(one.traceHash()).isEqualTo(other.traceHash());
    }

    @Test
    @Tag("nsim-56")
    void shouldTakeTheTimesOfPutsWrittenOut() {
        for (int size : SIZES) {
            int root = size / 3;
            for (long bytes : new long[] {8, 9_000}) {
                equal(size, r -> r.bcast(root, bytes), r -> broadcastOfPuts(r, root, bytes));
                equal(size, r -> r.reduce(root, bytes), r -> reduceOfPuts(r, root, bytes));
                equal(size, r -> r.allreduce(bytes), r -> allreduceOfPuts(r, bytes));
                equal(size, r -> r.alltoall(bytes), r -> alltoallOfPuts(r, bytes));
            }
            equal(size, Rank::barrier, CollectivesTest::barrierOfPuts);
        }
    }

    /** Values on board change no time. */
    @Test
    @Tag("nsim-56")
    void shouldTakeAsLongWithValuesAsWithSizesAlone() {
        int size = 13;
        long[][] given = values(size, 13 * 50, 3);
        long[][] into = new long[size][13 * 50];
        equal(
                size,
                rank -> {
                    rank.allreduce(given[rank.rank()], into[rank.rank()], Long::sum);
                    rank.alltoall(given[rank.rank()], into[rank.rank()]);
                    rank.reduce(2, given[rank.rank()], into[rank.rank()], Long::sum);
                    rank.bcast(3, into[rank.rank()]);
                },
                rank -> {
                    rank.allreduce(13 * 400);
                    rank.alltoall(400);
                    rank.reduce(2, 13 * 400);
                    rank.bcast(3, 13 * 400);
                });
    }
}
