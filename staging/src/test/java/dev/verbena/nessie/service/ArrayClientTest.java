package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client of servers that do what a test says: a version of theirs is dropped, or comes late. */
@Timeout(120)
class ArrayClientTest {
    private static final long TIMEOUT_MS = 1_000;
    private static final Box WHOLE = Box.whole(8);

    private final TransportContext context = new TransportContext().job("array-client");
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final RealEnvironment environment =
            RealEnvironment.builder().job("array-client").errorHandler(errors::add).build();
    private final List<Server> servers = new ArrayList<>();

    /** Of an array of two versions. */
    private final class Server implements NessieServer.Part, AutoCloseable {
        /** Gets of versions that it has dropped. */
        private int dropCount;

        private final long answerAfterNs;
        private final List<Long> waits = new CopyOnWriteArrayList<>();
        private final NessieServer server;
        private long version = 1;
        private RpcCall held;
        private long heldSinceNs;

        Server(int dropCount, long answerAfterNs) {
            this.dropCount = dropCount;
            this.answerAfterNs = answerAfterNs;
            NessieServer.Builder builder =
                    NessieServer.builder(environment, Transports.open("shm", context)).part(this);
            builder.on(ArrayConstants.DESCRIBE, ArrayRequest::new, call -> answer(call, 0));
            builder.on(ArrayConstants.VERSIONS, ArrayRequest::new, this::onVersions);
            builder.on(ArrayConstants.GET, ArrayRequest::new, this::onGet);
            server = builder.start();
        }

        private void answer(RpcCall call, int status) {
            ArrayReply reply = new ArrayReply().status(status).number(version);
            reply.type(ArrayType.INT8.code()).text().text("dropped");
            Requests.encodeShape(WHOLE, reply.shape());
            call.reply(0, reply);
        }

        private void onVersions(RpcCall call) {
            version = 2;
            ArrayReply reply = new ArrayReply();
            reply.versions().add(version);
            call.reply(0, reply);
        }

        private void onGet(RpcCall call) {
            waits.add(((ArrayRequest) call.args()).waitMs());
            if (dropCount-- > 0) {
                answer(call, ArrayStatus.UNKNOWN.ordinal());
            } else {
                held = call;
                heldSinceNs = System.nanoTime();
            }
        }

        @Override
        public void onStart(NntiTransport network) {}

        @Override
        public int doWork() {
            if (held == null || System.nanoTime() - heldSinceNs < answerAfterNs) {
                return 0;
            }
            answer(held, 0);
            held = null;
            return 1;
        }

        @Override
        public void close() {
            server.close();
        }
    }

    @AfterEach
    void end() {
        CloseHelper.closeAll(servers);
        environment.close();
    }

    private ArrayClient client() {
        List<String> urls = servers.stream().map(each -> each.server.url()).toList();
        return ArrayClient.connect(Transports.open("shm", context), urls, TIMEOUT_MS, errors::add);
    }

    /** What it may wait is not used up when a version is found: its pieces may come slowly. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldWaitForTheTransferOfTheLatestVersion(int dropCount) {
        servers.add(new Server(dropCount, 3 * TIMEOUT_MS / 2 * 1_000_000));
        try (ArrayClient client = client()) {
            NntiBuffer memory = client.allocate(8);
            long found = client.get("t", ArrayClient.LATEST, WHOLE, memory, 60_000);
            assertThat(found).isEqualTo(1 + dropCount);
        }
        assertThat(servers.get(0).waits).hasSize(1 + dropCount).containsOnly(0L);
        assertThat(errors).isEmpty();
    }

    /** There is a later version, but a server may still write to the memory. */
    @Test
    void shouldSayThatTheLatestVersionIsDroppedWhereAnotherServerDoesNotAnswer() {
        servers.add(new Server(1, Long.MAX_VALUE));
        servers.add(new Server(0, Long.MAX_VALUE));
        try (ArrayClient client = client()) {
            NntiBuffer memory = client.allocate(8);
            ArrayServiceContract.refused(
                    ArrayStatus.UNKNOWN,
                    "dropped",
                    () -> client.get("t", ArrayClient.LATEST, WHOLE, memory, 0));
        }
        assertThat(errors).isEmpty();
    }
}
