package dev.verbena.transport;

import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.BACK_PRESSURED;
import static dev.verbena.transport.Transport.NOT_CONNECTED;
import static dev.verbena.transport.Transport.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Some process of the user cuts the files of a transport's memory while transfers run. Its peers
 * lose the connection, its owner is told the file's name, and the JVM goes on. For transports over
 * shared memory.
 */
public abstract class CutFilesContract extends ContractFixture {
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int KEPT = 8192;
    private static final int LARGE = (3 << 20) + 5;
    private static final int LENGTH = 8 << 20;

    /** Accesses behind the end of what is left of the target's memory. */
    private enum Access {
        PUT_WORD,
        PUT_PAGES,
        PUT_LARGE,
        PUT_NOTIFY,
        GET_PAGES,
        GET_LARGE,
        VECTOR,
        FETCH_ADD,
        COMPARE_SWAP;

        int post(Transport t, long to, RegisteredRegion local, RemoteDescriptor d) {
            return switch (this) {
                case PUT_WORD -> t.put(to, local, 0, d, LENGTH - 8, 8, 1, 0);
                case PUT_PAGES -> t.put(to, local, 0, d, KEPT, 10_000, 1, 0);
                case PUT_LARGE -> t.put(to, local, 0, d, 5, LARGE, 1, 0);
                case PUT_NOTIFY -> t.putNotify(to, local, 0, d, LENGTH - 9, 9, 7, 1, 0);
                case GET_PAGES -> t.get(to, local, 0, d, 1 << 20, 9_000, 1, 0);
                case GET_LARGE -> t.get(to, local, 0, d, 0, LARGE, 1, 0);
                case VECTOR -> {
                    TransferVector v = new TransferVector(2).add(local, 0, 0, 8);
                    yield t.put(to, v.add(local, 8, LENGTH - 4096, 4096), d, 1, 0);
                }
                case FETCH_ADD -> t.fetchAdd(to, d, LENGTH - 16, 1, 1, 0);
                case COMPARE_SWAP -> t.compareSwap(to, d, LENGTH - 16, 0, 1, 1, 0);
            };
        }
    }

    /** Files of the toolkit that this process has mapped; others may be at work beside it. */
    private static Set<Path> files() {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.matches(".*/verbena-\\d+/[^/]+/[^./][^/]*"))
                    .filter(line -> !line.endsWith(" (deleted)"))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .collect(Collectors.toCollection(HashSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> added(Set<Path> before) {
        Set<Path> now = files();
        now.removeAll(before);
        return now.stream().sorted().toList();
    }

    /** Of the files of a transport the one without which there are no others. */
    private static Path segment(List<Path> files) {
        return files.stream().filter(file -> !file.toString().contains("+")).findFirst().get();
    }

    private static void cut(Path file, long length) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void pollFor(
            String what, ContractNode node, java.util.function.BooleanSupplier is) {
        long start = System.nanoTime();
        while (!is.getAsBoolean()) {
            node.poll();
            assertThat(System.nanoTime() - start).as(what).isLessThan(LIMIT_NS);
        }
    }

    /** The owner of a cut file is told so, and can still close everything. */
    private static void requireTold(ContractNode owner, Path file) {
        long start = System.nanoTime();
        String told = null;
        while (told == null) {
            assertThat(System.nanoTime() - start).as("told of " + file).isLessThan(LIMIT_NS);
            try {
                owner.poll();
                owner.transport.await(owner.transport.nanoTime() + 1_000_000);
            } catch (TransportException e) {
                told = e.getMessage();
            }
        }
        assertThat(told).contains(file.toString(), "somebody cut this file");
    }

    private static void pollCut(ContractNode node) {
        try {
            node.poll();
        } catch (TransportException e) {
            assertThat(e).hasMessageContaining("somebody cut this file");
        }
    }

    private void closeCut(ContractNode owner) {
        long start = System.nanoTime();
        while (true) {
            try {
                owner.close();
                errors.clear(); // what could not be ended in order may be reported
                return;
            } catch (TransportException e) {
                assertThat(System.nanoTime() - start).isLessThan(LIMIT_NS);
            }
        }
    }

    @Test
    void shouldLoseTheConnectionWhenMemoryOfThePeerIsCut() {
        for (Access access : Access.values()) {
            ContractNode a = node();
            ContractNode b = node();
            Pair p = new Pair(a, b);
            RegisteredRegion local = a.allocate(LENGTH);
            Set<Path> before = files();
            RegisteredRegion remote = b.allocate(LENGTH);
            Path file = added(before).get(0);
            RemoteDescriptor d = describe(remote);
            if (access.post(a.transport, p.ab, local, d) == NOT_SUPPORTED) {
                continue;
            }
            assertThat(completion(a).status()).as("%s before", access).isEqualTo(Status.OK);
            cut(file, KEPT);
            post("after", () -> access.post(a.transport, p.ab, local, d));
            pollFor("completion", a, () -> !a.completions.isEmpty());
            assertThat(a.completions.poll().status()).as("%s", access).isEqualTo(Status.PEER_DEAD);
            pollFor("the loss", a, () -> a.count("lost", p.ab) == 1);
            assertThat(access.post(a.transport, p.ab, local, d)).isEqualTo(NOT_CONNECTED);
            assertThat(whole(remote).getByte(LENGTH - 1)).isZero();
            requireTold(b, file);
            closeCut(b);
            a.close();
        }
    }

    @Test
    void shouldLoseTheConnectionWhenTheSegmentOfThePeerIsCut() {
        for (long length : new long[] {0, 100, 4096, 65_536}) {
            ContractNode a = node();
            Set<Path> before = files();
            ContractNode b = node();
            Path file = segment(added(before));
            Pair p = new Pair(a, b);
            RegisteredRegion local = a.allocate(LENGTH);
            RemoteDescriptor d = describe(b.allocate(LENGTH));
            post("before", () -> a.transport.put(p.ab, local, 0, d, 0, LARGE, 1, 0));
            assertThat(completion(a).status()).isEqualTo(Status.OK);
            cut(file, length);
            pollFor(
                    "the loss",
                    a,
                    () -> {
                        int put = a.transport.put(p.ab, local, 0, d, 0, 64, 1, 0);
                        int sent = a.transport.send(p.ab, local, 0, 64, 1, 0);
                        assertThat(put).isIn(ACCEPTED, BACK_PRESSURED, NOT_CONNECTED);
                        assertThat(sent).isIn(ACCEPTED, BACK_PRESSURED, NOT_CONNECTED);
                        return a.count("lost", p.ab) == 1;
                    });
            requireTold(b, file);
            closeCut(b);
            a.close();
        }
    }

    /** Transfers of both ends run while the files get shorter and longer. */
    @Test
    void shouldSurviveWhenFilesAreCutWhileTransfersRun() throws Exception {
        java.util.Random random = new java.util.Random(Long.getLong("verbena.seed", 1));
        for (int round = 0; round < times(16); round++) {
            ContractNode a = node();
            Set<Path> before = files();
            ContractNode b = node();
            Pair p = new Pair(a, b);
            RegisteredRegion local = a.allocate(LENGTH);
            RegisteredRegion own = b.allocate(LENGTH);
            RemoteDescriptor d = describe(b.allocate(LENGTH));
            List<Path> files = added(before);
            Path file = files.get(random.nextInt(files.size()));
            long length = Files.size(file);
            Thread cutter =
                    new Thread(
                            () -> {
                                for (int i = 0; i < 5; i++) {
                                    cut(file, (long) (random.nextDouble() * length));
                                    java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
                                }
                            });
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
            cutter.start();
            for (int i = 0; System.nanoTime() - until < 0; i++) {
                Access access = Access.values()[i % Access.values().length];
                access.post(a.transport, p.ab, local, d);
                a.transport.send(p.ab, local, i % 4096, 64, i, 0);
                b.transport.send(p.ba, own, 0, 64, i, 0);
                pollCut(a);
                pollCut(b);
            }
            cutter.join();
            closeCut(b);
            closeCut(a);
        }
    }
}
