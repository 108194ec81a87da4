package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Runs;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests whose transfers end when a test says so: nothing else moves. */
@Timeout(120)
class ArrayEngineTest {
    private static final int LENGTH = 1 << 15;
    private static final Box WHOLE = Box.whole(LENGTH);
    private static final Box HALF = Box.whole(LENGTH / 2);

    @TempDir Path directory;

    private RealEnvironment environment;
    private NntiTransport network;
    private ArrayStore store;
    private ArrayEngine engine;
    private long nowNs = 7;

    /** With memory for one piece. */
    @BeforeEach
    void start() {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withMemory(LENGTH);
        environment = RealEnvironment.builder().build();
        network =
                new NntiTransport(
                        Transports.open("shm", new TransportContext()), NntiOptions.ONE_SIDED);
        store =
                new ArrayStore(
                        environment.store(directory.toString()),
                        new PieceMemory(network, LENGTH),
                        options);
        engine = new ArrayEngine(store, new Slots(network), options, () -> nowNs);
    }

    @AfterEach
    void end() {
        store.close();
        network.close();
        environment.close();
    }

    private static final class Client implements Caller {
        private final long memoryLength;
        private TransferListener moving;
        private ArrayReply answer;
        private boolean isGone;

        Client(long memoryLength) {
            this.memoryLength = memoryLength;
        }

        @Override
        public long memoryLength() {
            return memoryLength;
        }

        @Override
        public boolean move(boolean isPull, NntiBuffer buffer, Runs run, TransferListener to) {
            moving = to;
            return true;
        }

        void moved() {
            TransferListener told = moving;
            moving = null;
            told.onTransferred(RpcResult.OK);
        }

        @Override
        public boolean isGone() {
            return isGone;
        }

        @Override
        public void reply(ArrayReply reply) {
            answer = reply;
        }
    }

    /** Sends a request, and never reads the answer. */
    private static final class SlowStream implements ByteStream {
        private final UnsafeBuffer sent;
        private int at;
        private boolean isOffered;

        SlowStream(int operation, ArrayRequest request, long memoryLength) {
            int length = request.encodedLength();
            ByteBuffer bytes = ByteBuffer.allocate(20 + length);
            bytes.putInt(ArrayConstants.TCP_MAGIC).putInt(operation).putInt(length);
            bytes.putLong(memoryLength);
            sent = new UnsafeBuffer(bytes.array());
            request.encode(sent, 20);
        }

        @Override
        public int state() {
            return OPEN;
        }

        @Override
        public String error() {
            return "";
        }

        @Override
        public String peer() {
            return "slow";
        }

        @Override
        public int read(MutableDirectBuffer buffer, int offset, int length) {
            int read = Math.min(length, sent.capacity() - at);
            buffer.putBytes(offset, sent, at, read);
            at += read;
            return read;
        }

        @Override
        public int write(DirectBuffer buffer, int offset, int length) {
            isOffered = true;
            return 0;
        }

        @Override
        public void close() {}
    }

    private static ArrayRequest request(long version, Box box) {
        ArrayRequest request = new ArrayRequest().places(1).number(version).waitMs(60_000);
        request.type(ArrayType.INT8.code()).name().text("t");
        Requests.encodeShape(WHOLE, request.shape());
        Requests.encode(box, request.box());
        Requests.encode(box, request.memory());
        return request;
    }

    private Client ask(int operation, long version, Box box) {
        Client client = new Client(box.volume());
        engine.onRequest(operation, request(version, box), client);
        return client;
    }

    private void putAndSeal() {
        putAndSeal(1, WHOLE);
    }

    private void putAndSeal(long version, Box box) {
        ask(ArrayConstants.PUT, version, box).moved();
        Client sealing = ask(ArrayConstants.SEAL, version, box);
        Await.until(
                "it is sealed",
                () -> {
                    engine.doWork();
                    return sealing.answer != null;
                });
        assertThat(sealing.answer.status()).isZero();
    }

    /** Nothing else wakes the put: its deadline never comes. */
    @Test
    void shouldGiveAPutTheMemoryOfAPieceThatWasRead() {
        putAndSeal();
        Client reader = ask(ArrayConstants.GET, 1, WHOLE);
        Client writer = ask(ArrayConstants.PUT, 2, WHOLE);
        engine.doWork();
        assertThat(writer.moving).as("the memory is being read").isNull();
        reader.moved();
        assertThat(reader.answer.status()).isZero();
        engine.doWork();
        assertThat(writer.moving).as("the memory is free").isNotNull();
        writer.moved();
        assertThat(writer.answer.status()).isZero();
    }

    @Test
    void shouldGiveUpRequestsOfClientsThatAreGone() {
        Client client = ask(ArrayConstants.VERSIONS, -1, WHOLE);
        engine.doWork();
        assertThat(client.answer).isNull();
        client.isGone = true;
        engine.doWork();
        assertThat(client.answer.status()).isEqualTo(ArrayStatus.FAILED.ordinal());
        assertThat(engine.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
    }

    /** Nor do they keep the server from its end for as long as they would wait. */
    @Test
    void shouldRefuseRequestsThatWaitWhenItEnds() {
        Client waiting = ask(ArrayConstants.VERSIONS, -1, WHOLE);
        engine.end();
        assertThat(ask(ArrayConstants.VERSIONS, -1, WHOLE).answer.text().text())
                .isEqualTo("the server is ending");
        nowNs += ArrayEngine.LAST_WAIT_NS;
        engine.end();
        assertThat(waiting.answer).isNull();
        nowNs = engine.nextDeadlineNs();
        engine.end();
        assertThat(waiting.answer.status()).isEqualTo(ArrayStatus.FAILED.ordinal());
        assertThat(waiting.answer.text().text()).isEqualTo("the server is ending");
        assertThat(engine.nextDeadlineNs()).isEqualTo(ProtocolAgent.NO_DEADLINE);
    }

    /** What it has taken over is on disk before it ends, however long that takes. */
    @Test
    void shouldSealWhatIsBeingWrittenWhenItEnds() {
        ask(ArrayConstants.PUT, 1, WHOLE).moved();
        Client sealing = ask(ArrayConstants.SEAL, 1, WHOLE);
        assertThat(sealing.answer).as("the disk is writing").isNull();
        engine.end();
        nowNs = Math.max(nowNs + ArrayEngine.LAST_WAIT_NS + 1, engine.nextDeadlineNs());
        engine.end();
        assertThat(sealing.answer).isNull();
        Await.until("it is sealed", () -> engine.doWork() >= 0 && sealing.answer != null);
        assertThat(sealing.answer.status()).isZero();
    }

    private TcpConnection reader(SlowStream stream) {
        TcpConnection reader = new TcpConnection(stream, engine, 7);
        reader.doWork(7);
        reader.doWork(7); // a turn has so many steps only: the answer begins in the next one
        return reader;
    }

    @Test
    void shouldLeaveSlotsForOthersThanSlowReadersOverTcp() {
        putAndSeal();
        Box few = Box.whole(8);
        List<SlowStream> streams = new ArrayList<>();
        List<TcpConnection> readers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            streams.add(new SlowStream(ArrayConstants.GET, request(1, few), few.volume()));
            readers.add(reader(streams.get(i)));
        }
        assertThat(streams).extracting(s -> s.isOffered).containsExactly(true, true, false, false);
        Client other = ask(ArrayConstants.GET, 1, few);
        assertThat(other.moving).as("it has a slot").isNotNull();
        // The next slot is for the next one that is still there.
        readers.get(2).close();
        readers.get(0).close();
        readers.get(3).doWork(7);
        assertThat(streams.get(3).isOffered).isTrue();
        other.moved();
        assertThat(other.answer.status()).isZero();
        // Nobody uses the piece any more.
        readers.get(1).close();
        readers.get(3).close();
        assertThat(ask(ArrayConstants.PUT, 2, WHOLE).moving).isNotNull();
    }

    /** Nobody gives a slot back meanwhile. */
    @Test
    void shouldKeepNothingInMemoryForWhoLeftWhileItWaitedForASlot() {
        putAndSeal(1, HALF);
        putAndSeal(2, HALF);
        Box few = Box.whole(8);
        List<TcpConnection> readers = new ArrayList<>();
        for (long version : new long[] {1, 1, 2}) {
            ArrayRequest request = request(version, few);
            readers.add(reader(new SlowStream(ArrayConstants.GET, request, few.volume())));
        }
        Client writer = ask(ArrayConstants.PUT, 3, HALF);
        engine.doWork();
        assertThat(writer.moving).as("the memory is about to be read").isNull();
        readers.get(2).close();
        engine.doWork();
        assertThat(writer.moving).as("the memory is free").isNotNull();
        // The same where no slot is free.
        ask(ArrayConstants.GET, 1, few);
        ask(ArrayConstants.GET, 1, few);
        Client last = ask(ArrayConstants.GET, 1, few);
        engine.doWork();
        assertThat(last.answer).isNull();
        last.isGone = true;
        engine.doWork();
        assertThat(last.answer.text().text()).endsWith("box [0:8]: the client is gone");
    }
}
