package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.rdma.calls.VerbsLayout;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Raw packets: providers read the frame's header while they post, inline or not. */
@Timeout(120)
class RawPacketTest {
    private static final int HEADER = 14;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final QueuePair raw =
            pair.domain.createQueuePair(
                    new QueuePairContext()
                            .type(QueuePairType.RAW_PACKET)
                            .completions(pair.completions)
                            .sendCapacity(32)
                            .segmentsMax(2, 1)
                            .inlineMax(32)
                            .operations(SendOperations.SEND));
    private final SendRequests sends = raw.newSends(1);
    private final SendRequestFlyweight frame = sends.at(0);

    @AfterEach
    void close() {
        sends.close();
        raw.close();
        pair.close();
    }

    @Test
    void shouldRefuseFramesWithoutAHeader() {
        assertThat(raw.post(frame)).isEqualTo(Post.NO_FRAME);
        frame.segment(pair.region, 0, HEADER - 1);
        assertThat(raw.post(frame)).isEqualTo(Post.NO_FRAME);
        frame.segment(1, pair.region, 0, 100).segments(2);
        assertThat(raw.post(sends, 0, 1)).isEqualTo(Post.NO_FRAME);
        assertThat(Post.name(Post.NO_FRAME)).contains("Ethernet header of 14 bytes");
        frame.segment(0, pair.region, 0, HEADER);
        assertThat(raw.post(frame)).isEqualTo(1);
        assertThat(pair.stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isEqualTo(2);
    }

    @Test
    void shouldRefuseMemoryThatHasNoAddressHere() {
        try (MemoryRegion zero =
                        pair.domain.register(pair.memory, Access.LOCAL_WRITE | Access.ZERO_BASED);
                MemoryRegion none = pair.domain.allocateNullRegion()) {
            assertThat(raw.post(frame.segment(zero, 0, 64))).isEqualTo(Post.NOT_INLINE);
            assertThat(raw.post(frame.segment(none, 0, 64))).isEqualTo(Post.NOT_INLINE);
            frame.segment(0, pair.region, 0, 64).segment(1, zero, 0, 64).segments(2);
            assertThat(raw.post(frame)).isEqualTo(Post.NOT_INLINE);
            assertThat(raw.post(frame.segments(1))).isEqualTo(1);
            try (SendBuilder builder = raw.newBuilder(1)) {
                builder.start().request().segment(zero, 0, 64);
                assertThat(builder.complete()).isEqualTo(Post.NOT_INLINE);
            }
        }
    }

    @Test
    void shouldRefuseTheSameInBuilders() {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[32]);
        try (SendBuilder builder = raw.newBuilder(1)) {
            builder.start().request();
            assertThat(builder.complete()).isEqualTo(Post.NO_FRAME);
            builder.inlineBytes(bytes, 0, HEADER - 1);
            assertThat(builder.complete()).isEqualTo(Post.NO_FRAME);
            builder.inlineBytes(bytes, 0, HEADER);
            assertThat(builder.complete()).isEqualTo(1);
            builder.start().request().segment(pair.region, 0, 64);
            assertThat(builder.complete()).isEqualTo(1);
        }
    }
}
