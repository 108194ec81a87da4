package dev.verbena.ugni.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What NNTI has over uGNI only: protection domains, and which engine moves what. */
@Timeout(60)
class NntiEnginesTest {
    private final String job = "nnti-engines-" + ProcessHandle.current().pid();
    private final List<NntiTransport> open = new ArrayList<>();

    @AfterEach
    void close() {
        open.forEach(NntiTransport::close);
    }

    private NntiTransport open(String fmaMax, String cookie) {
        TransportContext context =
                new TransportContext()
                        .job(job)
                        .option("gni.fmaMax", fmaMax)
                        .option("gni.ptag", "50")
                        .option("gni.cookie", cookie);
        NntiTransport made =
                new NntiTransport(Transports.open("gni", context), NntiOptions.ONE_SIDED);
        open.add(made);
        return made;
    }

    private void until(String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    open.forEach(NntiTransport::progress);
                    return condition.getAsBoolean();
                });
    }

    /**
     * The modes are lengths here: with 4096, CROSSOVER; with 0, BTE and MIXED, for messages go by
     * neither engine's posts; with 2^30, FMA.
     */
    @ParameterizedTest
    @CsvSource({
        "4096, 4096, true",
        "4096, 4097, false",
        "0, 1, false",
        "0, 4097, false",
        "1073741824, 4097, true"
    })
    @Tag("nessie-N25")
    void shouldMoveByTheEngineOfTheLength(String fmaMax, int length, boolean isFma) {
        NntiTransport left = open(fmaMax, "1000");
        NntiTransport right = open(fmaMax, "1000");
        NntiPeer peer = left.startConnect(right.url(), 20_000_000_000L);
        until("connected", () -> peer.state() == NntiPeer.State.READY);
        NntiBuffer local = left.alloc(8192, 1, BufferFlags.PUT_SRC | BufferFlags.GET_DST);
        NntiBuffer target = right.alloc(8192, 1, BufferFlags.PUT_DST | BufferFlags.GET_SRC);
        GniTransport card = (GniTransport) left.transport();
        GniStatistics before = card.statistics();
        WorkRequest put = new WorkRequest();
        WorkRequest got = new WorkRequest();
        left.put(peer, local, 0, length, target.handle(), 0, put);
        // Of a multiple of 4 bytes: the rest of another would be a post of its own.
        left.get(peer, target.handle(), 0, length + 3 & ~3, local, 0, got);
        until("moved", () -> put.isComplete() && got.isComplete());
        GniStatistics after = card.statistics();
        assertThat(after.fmaPosts() - before.fmaPosts()).isEqualTo(isFma ? 2 : 0);
        assertThat(after.btePosts() - before.btePosts()).isEqualTo(isFma ? 0 : 2);
    }

    @Test
    @Tag("nessie-N5")
    void shouldRefusePeersOfAnotherProtectionDomain() {
        NntiTransport server = open("4096", "1000");
        NntiTransport stranger = open("4096", "1001");
        NntiTransport client = open("4096", "1000");
        assertThatThrownBy(() -> stranger.connect(server.url(), 20_000))
                .isInstanceOfSatisfying(
                        NntiException.class,
                        e -> assertThat(e.result()).isEqualTo(NntiResult.EPERM))
                .hasMessageContaining("1000")
                .hasMessageContaining("1001");
        NntiPeer peer = client.startConnect(server.url(), 20_000_000_000L);
        until("connected", () -> peer.state() == NntiPeer.State.READY);
    }
}
