package dev.verbena.cli.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.transfer.PerfEndpoint.Round;
import dev.verbena.cli.transfer.PerfEndpoint.Settings;
import dev.verbena.transport.Operation;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerfEndpointTest {
    /** A probe of doctor that fails for its memory: what it took would be missing for the next. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldGiveSharedMemoryBackWhenAllocatingFails(String scheme) throws IOException {
        List<String> before = shared();
        assertThatThrownBy(() -> new PerfEndpoint(scheme, Integer.MIN_VALUE, Settings.usual()))
                .isInstanceOf(RuntimeException.class);
        assertThat(shared()).isSubsetOf(before);
    }

    @Test
    @Timeout(30)
    void shouldAnnounceARoundAsSoonAsThePeerHasTakenTheMessagesBefore() throws Exception {
        Peer peer = new Peer();
        CompletableFuture<Round> second = CompletableFuture.supplyAsync(peer::secondRound);
        Round next = new Round(Operation.PUT, 8, 7);
        try (PerfEndpoint endpoint = Peer.endpoint()) {
            endpoint.connect(peer.listening.get());
            endpoint.sendRound(new Round(Operation.SEND, Settings.SHORT, 8));
            peer.hasFirst.get();
            endpoint.start(Operation.SEND, Settings.SHORT, 8, 8);
            endpoint.drain();
            peer.mayPoll.completeOnTimeout(null, 100, TimeUnit.MILLISECONDS);
            endpoint.sendRound(next);
            assertThat(peer.mayPoll).as("there was no room for it before").isDone();
            assertThat(second.get()).isEqualTo(next);
        }
    }

    /** Does not poll between its first round and its second until it may. */
    private static final class Peer {
        private final CompletableFuture<URI> listening = new CompletableFuture<>();
        private final CompletableFuture<Round> hasFirst = new CompletableFuture<>();
        private final CompletableFuture<Void> mayPoll = new CompletableFuture<>();

        private static PerfEndpoint endpoint() {
            return new PerfEndpoint("shm", Settings.SHORT, Settings.small(false));
        }

        private Round secondRound() {
            try (PerfEndpoint endpoint = endpoint()) {
                endpoint.listen();
                listening.complete(endpoint.uri());
                hasFirst.complete(endpoint.awaitRound());
                mayPoll.join();
                return endpoint.awaitRound();
            }
        }
    }

    /**
     * The shared memory that this process has mapped; libraries are loaded on first use and stay.
     */
    private static List<String> shared() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.matches(".*/verbena-\\d+/.*")).toList();
        }
    }
}
