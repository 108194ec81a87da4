package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls beyond put and get: segments, parts of a swap, several queues, waiting, looking. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsCallsTest {
    private static final int ANY = PortalsInterface.ANY;
    private static final int INDEX = 7;
    private static final long BITS = 0x1234;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    private final PortalsEventFlyweight event = new PortalsEventFlyweight();
    private PortalsInterface ni;
    private EventQueue queue;
    private EventQueue other;
    private PortalsMemory memory;
    private UnsafeBuffer bytes;

    private static PortalsInterfaceContext context() {
        return new PortalsInterfaceContext()
                .job("calls-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement())
                .eventSlotCount(1024)
                .matchEntriesMax(32)
                .descriptorsMax(32)
                .eventQueuesMax(8);
    }

    @BeforeEach
    void open() {
        open(context());
    }

    private void open(PortalsInterfaceContext context) {
        ni = PortalsInterface.open(context);
        queue = ni.eventQueue(8);
        other = ni.eventQueue(8);
        memory = ni.allocate(4096);
        bytes = memory.buffer(0, 4096);
    }

    @AfterEach
    void close() {
        ni.closeAll();
    }

    /** Of the interface itself, which is its own target here. */
    private MemoryDescriptor post(MemoryDescriptorContext rules) {
        return ni.attach(
                        INDEX,
                        MatchEntryContext.of(
                                ANY, ANY, BITS, 0, MatchEntry.RETAIN, MatchEntry.AFTER))
                .attach(rules.acceptPut(true).acceptGet(true), MemoryDescriptor.RETAIN);
    }

    private MemoryDescriptor source(long offset, long length) {
        return ni.bind(
                new MemoryDescriptorContext().region(memory.address() + offset, length),
                MemoryDescriptor.RETAIN);
    }

    private int put(MemoryDescriptor from, long length, long remoteOffset, long headerData) {
        return from.put(
                0, length, false, ni.id().target(), INDEX, 0, BITS, remoteOffset, headerData);
    }

    @Test
    @Tag("portals3-50")
    void shouldScatterAndGatherOverSegments() {
        long at = memory.address();
        post(
                new MemoryDescriptorContext()
                        .segments(new long[] {at, at + 100, at + 200}, new long[] {4, 3, 5})
                        .remoteOffset(true));
        bytes.putStringWithoutLengthAscii(1000, "abcdefgh");
        assertThat(put(source(1000, 8), 8, 2, 0)).isEqualTo(PortalsOutcome.DELIVERED);
        assertThat(bytes.getStringWithoutLengthAscii(2, 2)).isEqualTo("ab");
        assertThat(bytes.getStringWithoutLengthAscii(100, 3)).isEqualTo("cde");
        assertThat(bytes.getStringWithoutLengthAscii(200, 3)).isEqualTo("fgh");
        assertThat(bytes.getByte(4)).isZero();
        MemoryDescriptor gathered = source(2000, 8);
        assertThat(gathered.get(0, 8, ni.id().target(), INDEX, 0, BITS, 2))
                .isEqualTo(PortalsOutcome.DELIVERED);
        assertThat(bytes.getStringWithoutLengthAscii(2000, 8)).isEqualTo("abcdefgh");
        assertThat(put(source(1000, 8), 8, 5, 0)).isEqualTo(PortalsOutcome.DROPPED);
    }

    @Test
    void shouldRefuseSegmentsThatAreNone() {
        MemoryDescriptorContext rules = new MemoryDescriptorContext();
        assertThatThrownBy(() -> rules.segments(new long[] {1, 2}, new long[] {1}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 addresses and 1 lengths");
        assertThatThrownBy(() -> rules.segments(new long[] {0}, new long[] {1}))
                .hasMessageContaining("segment 0");
        assertThatThrownBy(() -> rules.segments(new long[0], new long[0]))
                .isInstanceOf(IllegalArgumentException.class);
        // A region after segments is a region again.
        post(
                rules.segments(new long[] {memory.address()}, new long[] {1})
                        .region(memory.address(), 64));
        assertThat(put(source(1000, 8), 8, 0, 0)).isEqualTo(PortalsOutcome.DELIVERED);
    }

    @Test
    @Tag("portals3-57")
    @Tag("portals3-59")
    void shouldSwapAPart() {
        post(new MemoryDescriptorContext().memory(memory).remoteOffset(true));
        bytes.putLong(3000, 1);
        bytes.putLong(1008, 2);
        MemoryDescriptor result = source(2000, 64);
        MemoryDescriptor update = source(1000, 64);
        long self = ni.id().target();
        assertThat(result.getPut(16, update, 8, 8, self, INDEX, 0, BITS, 3000, 0))
                .isEqualTo(PortalsOutcome.DELIVERED);
        assertThat(bytes.getLong(3000)).isEqualTo(2);
        assertThat(bytes.getLong(2016)).isEqualTo(1);
        assertThat(bytes.getLong(2000)).isZero();
        assertThat(result.getPut(60, update, 0, 8, self, INDEX, 0, BITS, 3000, 0))
                .isEqualTo(-PortalsCode.MD_ILLEGAL);
        assertThat(result.getPut(0, update, 0, 65, self, INDEX, 0, BITS, 3000, 0))
                .isEqualTo(-PortalsCode.MD_ILLEGAL);
    }

    @Test
    @Tag("portals3-78")
    @Tag("portals3-79")
    void shouldPollQueuesInTheOrderOfTheArray() {
        post(new MemoryDescriptorContext().region(memory.address(), 64).queue(other));
        EventQueue[] both = {queue, other};
        assertThat(ni.pollAny(both, event, 0)).isEqualTo(-1);
        assertThat(ni.pollAny(both, event, 1_000_000)).isEqualTo(-1);
        put(source(1000, 8), 8, 0, 5);
        assertThat(ni.pollAny(both, event, 0)).isEqualTo(1);
        assertThat(event.kind()).isEqualTo(PortalsEventKind.PUT_START);
        ni.attach(
                        INDEX,
                        MatchEntryContext.of(
                                ANY, ANY, BITS, 0, MatchEntry.RETAIN, MatchEntry.BEFORE))
                .attach(
                        new MemoryDescriptorContext()
                                .region(memory.address(), 64)
                                .acceptPut(true)
                                .queue(queue),
                        MemoryDescriptor.RETAIN);
        put(source(1000, 8), 8, 0, 6);
        assertThat(ni.pollAny(both, event, -1)).isZero();
        assertThat(event.headerData()).isEqualTo(6);
        assertThatThrownBy(() -> ni.pollAny(new EventQueue[0], event, 0))
                .isInstanceOf(IllegalArgumentException.class);
        try (PortalsInterface stranger = PortalsInterface.open(context());
                EventQueue strange = stranger.eventQueue(2)) {
            assertThatThrownBy(() -> ni.pollAny(new EventQueue[] {queue, strange}, event, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another interface");
        }
    }

    @Test
    @Tag("portals3-77")
    @Tag("portals3-81")
    void shouldWaitForAnEventAndSayWhenSomeWereLost() {
        EventQueue small = ni.eventQueue(2);
        post(
                new MemoryDescriptorContext()
                        .region(memory.address(), 64)
                        .startEvents(false)
                        .queue(small));
        assertThat(small.await(event, 0)).isEqualTo(EventQueue.EMPTY);
        MemoryDescriptor from = source(1000, 8);
        put(from, 8, 0, 1);
        assertThat(small.await(event, -1)).isEqualTo(EventQueue.EVENT);
        assertThat(event.isAfterLoss()).isFalse();
        for (int i = 2; i < 6; i++) {
            put(from, 8, 0, i);
        }
        assertThat(small.peek(event)).isEqualTo(EventQueue.DROPPED);
        assertThat(small.await(event, -1)).isEqualTo(EventQueue.DROPPED);
        assertThat(event.isAfterLoss()).isTrue();
        assertThat(event.headerData()).isEqualTo(4);
        assertThat(small.peek(event)).isEqualTo(EventQueue.EVENT);
        assertThat(event.isAfterLoss()).isFalse();
        assertThat(small.poll(event)).isEqualTo(EventQueue.EVENT);
        assertThat(event.headerData()).isEqualTo(5);
        assertThat(small.peek(event)).isEqualTo(EventQueue.EMPTY);
    }

    @Test
    @Tag("portals3-64")
    void shouldLogUnlinkByHandOnlyWhereCrayAsksForIt() {
        MemoryDescriptorContext asking =
                new MemoryDescriptorContext()
                        .region(memory.address(), 64)
                        .unlinkEvents(true, true)
                        .queue(queue);
        MatchEntry entry =
                ni.attach(
                        INDEX,
                        MatchEntryContext.of(
                                ANY, ANY, BITS, 0, MatchEntry.RETAIN, MatchEntry.AFTER));
        assertThatThrownBy(() -> entry.attach(asking, MemoryDescriptor.RETAIN))
                .isInstanceOf(PortalsException.class)
                .hasMessageContaining("PTL_MD_ILLEGAL");
        ni.closeAll();
        open(context().cray(true));
        post(asking.region(memory.address(), 64).queue(queue)).close();
        assertThat(queue.poll(event)).isEqualTo(EventQueue.EVENT);
        assertThat(event.kind()).isEqualTo(PortalsEventKind.UNLINK);
        assertThat(queue.poll(event)).isEqualTo(EventQueue.EMPTY);
    }
}
