package dev.verbena.savime.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import dev.verbena.transport.Transport;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClientEngineTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final AtomicLong clock = new AtomicLong();
    private final RealEnvironment environment =
            RealEnvironment.builder().job("client-engine").nanoClock(clock::get).build();
    private final TaskQueue queue = new TaskQueue(1, 1, () -> {});
    private final Link link = new Link();
    private final ClientEngine engine =
            new ClientEngine(
                    new ClientSettings(
                            environment,
                            1,
                            new byte[16],
                            4096,
                            1,
                            1,
                            false,
                            false,
                            SECOND_NS,
                            10 * SECOND_NS,
                            100 * SECOND_NS),
                    "s",
                    queue,
                    to -> link);

    /** Connects when the test says so. */
    private static final class Link implements ServerLink {
        private final MessageQueue out = new MessageQueue(16);
        private Runnable next = () -> {};

        void next(Runnable what) {
            next = what;
        }

        @Override
        public int doWork() {
            next.run();
            next = () -> {};
            return 0;
        }

        @Override
        public boolean isConnected() {
            return true;
        }

        @Override
        public String whyNot() {
            return "";
        }

        @Override
        public MessageQueue out() {
            return out;
        }

        @Override
        public RegisteredRegion register(OffHeapMemory memory) {
            return null;
        }

        @Override
        public int pieceLength() {
            return 1;
        }

        @Override
        public boolean write(OutgoingBlock block, boolean isSummed) {
            return false;
        }

        @Override
        public int sum() {
            return 0;
        }

        @Override
        public void reset(String why) {}

        @Override
        public long nextDeadlineNs() {
            return Long.MAX_VALUE;
        }

        @Override
        public Transport transport() {
            return null;
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void close() {
        engine.onClose();
        environment.close();
    }

    private void greet() {
        int length = StgType.lengthMin(StgType.HELLO_ACK);
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[length]);
        new StgFlyweight().begin(buffer, 0, StgType.HELLO_ACK).session(1).maxBlock(4096).window(1);
        engine.onMessage(buffer, 0, length);
    }

    /** The link has a new connection before it could be seen that it had none. */
    @Test
    void shouldGiveAServerTimeToGreetThatIsConnectedAgainAtOnce() {
        engine.onStart();
        engine.onConnected();
        greet();
        engine.doWork();
        clock.addAndGet(20 * SECOND_NS);
        Upload.Dataset dataset = new Upload.Dataset("d", "char", 1, 0, 0, null);
        long last = queue.add(new Upload(dataset, null, 0, 10, ended -> {}));
        link.next(engine::onConnected);
        engine.doWork();
        assertThat(queue.isDoneUpTo(last)).isFalse();
        clock.addAndGet(10 * SECOND_NS);
        engine.doWork();
        assertThat(queue.takeFailures()).containsExactly("d: SERVER_LOST");
    }
}
