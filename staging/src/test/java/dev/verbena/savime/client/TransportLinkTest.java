package dev.verbena.savime.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.savime.RecordingSink;
import dev.verbena.savime.StagingFixture;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a client's engine learns of its connection by a transport. */
@Timeout(60)
class TransportLinkTest {
    private static final long PUTS = 1L << 32;
    private static final long SECOND_NS = 1_000_000_000;

    @TempDir Path folder;
    private final List<String> written = new ArrayList<>();

    private TransportLink link(StagingFixture stage) {
        ClientSettings settings =
                new ClientSettings(
                        stage.environment,
                        1,
                        new byte[16],
                        4096,
                        1,
                        1,
                        false,
                        true,
                        SECOND_NS,
                        SECOND_NS,
                        SECOND_NS);
        return new TransportLink(
                settings,
                () -> stage.environment.openTransport("shm", new TransportContext().job(stage.job)),
                stage.service().toString(),
                new ServerLink.Events() {
                    @Override
                    public void onConnected() {}

                    @Override
                    public void onMessage(DirectBuffer buffer, int offset, int length) {}

                    @Override
                    public void onWritten(int tag, boolean isThere) {
                        written.add(tag + " " + isThere);
                    }

                    @Override
                    public boolean askIfAlive() {
                        return false;
                    }
                });
    }

    /** Its event follows, and the dataset may be tried again. */
    @Test
    void shouldNotBlameABlockForTheLossOfItsServer() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, false);
                TransportLink link = link(stage)) {
            link.onCompletion(PUTS + 1, Status.OK);
            link.onCompletion(PUTS + 2, Status.STALE_KEY);
            link.onCompletion(PUTS + 3, Status.PEER_DEAD);
            link.onCompletion(PUTS + 4, Status.FLUSHED);
            assertThat(written).containsExactly("1 true", "2 false");
        }
    }

    @Test
    void shouldNotBeConnectedOnceItIsReset() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(new RecordingSink(1));
            try (TransportLink link = link(stage)) {
                Await.until("connected", () -> link.doWork() >= 0 && link.isConnected());
                link.reset("it does not get on");
                link.doWork();
                assertThat(link.isConnected()).isFalse();
                assertThat(link.whyNot()).contains("it does not get on");
                Await.until("again", () -> link.doWork() >= 0 && link.isConnected());
            }
        }
    }
}
