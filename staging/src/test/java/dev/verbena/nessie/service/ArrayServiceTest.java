package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Chunks;
import dev.verbena.staging.metadata.Runs;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The array service over shm://, and what needs no transport. */
class ArrayServiceTest extends ArrayServiceContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    /** A toolkit has room for about 4090 pieces, however small they are. */
    @Test
    void shouldMovePiecesToDiskWhenThereAreTooMany() throws Exception {
        int versions = 50;
        int pieces = 100;
        try (ArrayServers servers = servers(1, ArrayServerOptions.DEFAULT)) {
            ArrayClient client = servers.client();
            NntiBuffer one = client.allocate(8);
            for (int i = 0; i < versions * pieces; i++) {
                fill(one, i);
                client.put(grid("t", i / pieces, pieces), box(i % pieces, 1), one);
            }
            NntiBuffer all = client.allocate(pieces * 8);
            for (int version = 0; version < versions; version++) {
                client.get("t", version, box(0, pieces), all, 0);
                for (int i = 0; i < pieces; i++) {
                    assertThat(element(all, i)).isEqualTo(version * pieces + i);
                }
            }
            assertThat(servers.errors).isEmpty();
        }
    }

    private static void put(ArrayClient client, int version, NntiBuffer four) {
        fill(four, version);
        client.put(grid("t", version, 4), box(0, 4), four);
    }

    /** A client may read, or the writer may end, between the two halves of a seal. */
    @Test
    void shouldReadTheLatestVersionWhileANewerOneIsBeingSealed() throws Exception {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withVersionsKept(1);
        try (ArrayServers servers = servers(2, options)) {
            ArrayClient client = servers.client();
            NntiBuffer four = client.allocate(4 * 8);
            put(client, 1, four);
            client.seal("t", 1);
            put(client, 2, four);
            int away = 1 - Split.home("t", 2);
            client.seal(grid("t", 2, 4), away).await();
            assertThat(client.get("t", ArrayClient.LATEST, box(0, 4), four, 0)).isEqualTo(1);
            assertThat(element(four, 0)).isEqualTo(1);
            assertThat(element(four, 3)).isEqualTo(1 + 3);
            client.seal("t", 2);
            assertThat(client.get("t", ArrayClient.LATEST, box(0, 4), four, 0)).isEqualTo(2);
            assertThat(element(four, 3)).isEqualTo(2 + 3);
            assertThat(servers.errors).isEmpty();
        }
    }

    /** Its number was the latest when the home server was asked. */
    @Test
    void shouldLookForALaterVersionWhenTheLatestIsDropped() throws Exception {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withVersionsKept(1);
        try (ArrayServers servers = servers(2, options)) {
            ArrayClient client = servers.client();
            NntiBuffer four = client.allocate(4 * 8);
            put(client, 1, four);
            client.seal("t", 1);
            int away = 1 - Split.home("t", 2);
            for (int version = 2; version <= 3; version++) {
                put(client, version, four);
                client.seal(grid("t", version, 4), away).await();
            }
            assertThatThrownBy(() -> client.get("t", ArrayClient.LATEST, box(0, 4), four, 0))
                    .hasMessage("array 't', version 1: there is none");
            assertThatThrownBy(() -> client.get("t", ArrayClient.LATEST, box(0, 4), four, 1_000))
                    .hasMessageStartingWith("array 't', version 1: no later one is sealed, after ");
            // A client belongs to one thread.
            CompletableFuture<Long> latest =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try (ArrayClient reader = servers.connect()) {
                                    NntiBuffer into = reader.allocate(4 * 8);
                                    return reader.get(
                                            "t",
                                            ArrayClient.LATEST,
                                            box(0, 4),
                                            into,
                                            ArrayServers.LIMIT_MS);
                                }
                            });
            client.seal("t", 3);
            assertThat(latest.join()).isEqualTo(3);
            assertThat(servers.errors).isEmpty();
        }
    }

    @Test
    void shouldCutABoxIntoPartsInOrder() {
        SplittableRandom random = new SplittableRandom(6);
        for (int round = 0; round < 2_000; round++) {
            long[] count = new long[1 + random.nextInt(4)];
            java.util.Arrays.setAll(count, i -> 1 + random.nextInt(7));
            Box box = Box.of(new long[count.length], count);
            long max = 1 + random.nextInt(40);
            Chunks chunks = new Chunks(box, max);
            long expected = 0;
            for (Box part = chunks.next(); part != null; part = chunks.next()) {
                // Contiguous in the box, and where the part before has ended.
                Runs runs = part.runs(box, part, 1);
                long from = expected;
                while (runs.next()) {
                    assertThat(runs.fromOffset()).isEqualTo(expected);
                    assertThat(runs.toOffset()).isEqualTo(expected - from);
                    expected += runs.length();
                }
                assertThat(part.volume()).isLessThanOrEqualTo(max);
            }
            assertThat(expected).isEqualTo(box.volume());
        }
    }

    @Test
    void shouldSpreadEveryIndexOverServersOnce() {
        SplittableRandom random = new SplittableRandom(8);
        for (int round = 0; round < 500; round++) {
            long[] shape = new long[1 + random.nextInt(3)];
            java.util.Arrays.setAll(shape, i -> 1 + random.nextInt(20));
            Box whole = Box.whole(shape);
            int places = 1 + random.nextInt(9);
            List<Box> parts = new ArrayList<>();
            for (int place = 0; place < places; place++) {
                Box part = Split.part(whole, whole, place, places);
                if (part != null) {
                    assertThat(parts).noneMatch(part::overlaps);
                    parts.add(part);
                }
            }
            assertThat(parts.stream().mapToLong(Box::volume).sum()).isEqualTo(whole.volume());
        }
    }
}
