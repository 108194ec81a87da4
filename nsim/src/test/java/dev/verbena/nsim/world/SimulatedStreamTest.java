package dev.verbena.nsim.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How fast byte streams are, and what becomes of them when a partition ends. */
@Timeout(60)
class SimulatedStreamTest {
    private static final int LENGTH = 6_000_000;
    private static final int CONNECTING_NS = 100_000;

    private final World world = new World(1, TreeTopology.single(2), new NetworkContext());
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[LENGTH]);
    private Listener listener;
    private ByteStream out;
    private ByteStream in;

    @AfterEach
    void closeWorld() {
        world.close();
    }

    private void connect() {
        listener = world.host("a").start("reader").streams().listen("0.0.0.0", 0);
        out = world.host("b").start("writer").streams().connect("a", listener.port());
        world.run(CONNECTING_NS);
        in = listener.accept();
        assertThat(out.state()).isEqualTo(ByteStream.OPEN);
    }

    /** Time after which a segment is there; the reader then has read it. */
    private long takesNs(int length) {
        long begin = world.nowNs();
        assertThat(out.write(bytes, 0, length)).isEqualTo(length);
        int[] read = new int[1];
        for (int waited = 0; read[0] == 0 && waited < 1_000_000; waited += 10) {
            world.run(10);
            read[0] = in.read(bytes, 0, length);
        }
        assertThat(read[0]).isEqualTo(length);
        return world.nowNs() - begin;
    }

    @Test
    void shouldTakeAsLongAsTheRateSaysWhenItIsNoWholeNumberOfPicosecondsPerByte() {
        world.streams(0, 600_000_000_000L).streamWindow(LENGTH);
        connect();
        assertThat(takesNs(LENGTH)).isEqualTo(10_000);
        world.streams(0, 1_250_000_000L);
        assertThat(takesNs(125_000)).isEqualTo(100_000);
    }

    @Test
    void shouldTakeTheWorldsRateWhenAHostHasNone() {
        world.streams(0, 600_000_000_000L).streamWindow(LENGTH);
        world.host("a").streamRate(60_000_000_000L);
        connect();
        assertThat(takesNs(LENGTH)).isEqualTo(100_000);
        world.host("a").streamRate(0);
        assertThat(takesNs(LENGTH)).isEqualTo(10_000);
        assertThatThrownBy(() -> world.host("a").streamRate(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("stream rate -1");
        assertThatThrownBy(() -> world.streams(0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("stream rate 0");
    }

    @Test
    void shouldTakeAsLongAsTheRateSaysWhenASegmentIsVeryLong() {
        int length = 60_000_000;
        UnsafeBuffer large = new UnsafeBuffer(new byte[length]);
        world.streams(0, 600_000_000_000L).streamWindow(length);
        connect();
        assertThat(out.write(large, 0, length)).isEqualTo(length);
        world.run(99_990);
        assertThat(in.read(large, 0, length)).isZero();
        world.run(10);
        assertThat(in.read(large, 0, length)).isEqualTo(length);
    }

    /** The acceptor has its end before the other knows. */
    @Test
    void shouldEndTheOtherEndWhenItIsClosedBeforeItIsOpen() {
        world.streams(10_000, 600_000_000_000L);
        listener = world.host("a").start("reader").streams().listen("0.0.0.0", 0);
        out = world.host("b").start("writer").streams().connect("a", listener.port());
        world.run(15_000);
        in = listener.accept();
        assertThat(out.state()).isEqualTo(ByteStream.CONNECTING);
        out.close();
        assertThat(in.state()).isEqualTo(ByteStream.OPEN);
        world.run(10_000);
        assertThat(in.state()).isEqualTo(ByteStream.FAILED);
        assertThat(in.error()).isEqualTo("ended by b");
    }

    @Test
    void shouldDeliverWhatAPartitionHeldBackWhenAllIsHealed() {
        connect();
        cutAndWrite();
        world.healAll();
        assertThat(in.read(bytes, 0, 10)).isEqualTo(10);
    }

    @Test
    void shouldDeliverWhatAPartitionHeldBackWhenTheListenerIsClosed() {
        connect();
        listener.close();
        cutAndWrite();
        world.heal(world.host("b"), world.host("a"));
        assertThat(in.read(bytes, 0, 10)).isEqualTo(10);
        cutAndWrite();
        world.healAll();
        assertThat(in.read(bytes, 0, 10)).isEqualTo(10);
    }

    private void cutAndWrite() {
        world.cut(world.host("b"), world.host("a"));
        assertThat(out.write(bytes, 0, 10)).isEqualTo(10);
        world.run(200_000_000);
        assertThat(in.read(bytes, 0, 10)).isZero();
    }
}
