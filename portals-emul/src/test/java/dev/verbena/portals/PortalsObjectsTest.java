package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.bindings.ptl_event_t;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Java objects over two interfaces of this process: initiator and target. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsObjectsTest {
    private static final int ANY = PortalsInterface.ANY;
    private static final int INDEX = 5;
    private static final long BITS = 0xFEED_FACE_CAFE_BEEFL;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    private PortalsInterface initiator;
    private PortalsInterface target;
    private EventQueue initiatorQueue;
    private EventQueue targetQueue;
    private PortalsMemory initiatorMemory;
    private PortalsMemory targetMemory;
    private final PortalsEventFlyweight event = new PortalsEventFlyweight();

    private static PortalsInterfaceContext context(String job) {
        return new PortalsInterfaceContext()
                .job(job)
                .eventSlotCount(4096)
                .matchEntriesMax(64)
                .descriptorsMax(64)
                .eventQueuesMax(16);
    }

    @BeforeEach
    void open() {
        String job = "objects-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
        initiator = PortalsInterface.open(context(job));
        target = PortalsInterface.open(context(job));
        initiatorQueue = initiator.eventQueue(64);
        targetQueue = target.eventQueue(64);
        initiatorMemory = initiator.allocate(4096);
        targetMemory = target.allocate(4096);
    }

    @AfterEach
    void close() {
        initiator.moveTo(Thread.currentThread());
        initiator.closeAll();
        target.closeAll();
    }

    @Test
    void shouldSayWhyAnInterfaceCannotBeOpenedInTheLibrarysWordsAndNoMore() {
        PortalsInterfaceContext taken =
                context("objects-" + ProcessHandle.current().pid() + "-" + (SERIAL.get() - 1))
                        .nid(target.id().nid())
                        .pid(target.id().pid());
        assertThatThrownBy(() -> PortalsInterface.open(taken))
                .isInstanceOf(PortalsException.class)
                .hasMessageContaining("PTL_PID_INVALID")
                .hasMessageNotContaining("\0");
    }

    private MemoryDescriptor exposed(MemoryDescriptorContext rules, boolean unlink) {
        return target.attach(
                        INDEX, MatchEntryContext.of(ANY, ANY, BITS, 0, unlink, MatchEntry.AFTER))
                .attach(rules, unlink);
    }

    private MemoryDescriptorContext rules() {
        return new MemoryDescriptorContext()
                .memory(targetMemory)
                .acceptPut(true)
                .acceptGet(true)
                .queue(targetQueue);
    }

    private MemoryDescriptor bound() {
        return initiator.bind(
                new MemoryDescriptorContext().memory(initiatorMemory).queue(initiatorQueue),
                MemoryDescriptor.RETAIN);
    }

    private int put(MemoryDescriptor from, long offset, long length, boolean ack, long header) {
        return from.put(offset, length, ack, target.id().target(), INDEX, 0, BITS, 0, header);
    }

    private void expect(EventQueue queue, int... kinds) {
        for (int kind : kinds) {
            assertThat(queue.poll(event))
                    .as(PortalsEventKind.name(kind))
                    .isEqualTo(EventQueue.EVENT);
            assertThat(PortalsEventKind.name(event.kind())).isEqualTo(PortalsEventKind.name(kind));
        }
        assertThat(queue.poll(event)).isEqualTo(EventQueue.EMPTY);
        assertThat(queue.isEmpty()).isTrue();
    }

    /** Takes the events of two identical operations, one through Java and one through C. */
    @Test
    @Tag("portals3-95")
    void shouldShowTheSameEventInJavaAndInC() {
        MemoryDescriptor atTarget =
                exposed(rules().threshold(100).spaceMin(16).userPointer(0x1234_5678_9ABCL), true);
        MemoryDescriptor from = bound();
        ptl_event_t inC = new ptl_event_t();
        for (int round = 0; round < 4; round++) {
            assertThat(put(from, 3, 20 + round, true, -2 - round)).isEqualTo(0);
            EventQueue queue = round % 2 == 0 ? targetQueue : initiatorQueue;
            EventQueue other = round % 2 == 0 ? initiatorQueue : targetQueue;
            while (!queue.isEmpty()) {
                // The slot stays as it is after it was taken: taking it in Java and then winding
                // the head back lets C take the same event.
                long head = queue.head();
                assertThat(queue.poll(event)).isEqualTo(EventQueue.EVENT);
                queue.rewindForTest(head);
                assertThat(portals.vpn_eq_get(queue.handle(), inC.address())).isZero();
                compare(inC);
            }
            while (other.poll(event) != EventQueue.EMPTY) {
                assertThat(event.failure()).isZero();
            }
        }
        assertThat(atTarget.threshold()).isEqualTo(96);
        inC.deallocate();
    }

    private void compare(ptl_event_t c) {
        assertThat(event.kind()).isEqualTo(c.type());
        assertThat(event.nid()).isEqualTo(c.initiator().nid());
        assertThat(event.pid()).isEqualTo(c.initiator().pid());
        assertThat(event.uid()).isEqualTo(c.uid());
        assertThat(event.jid()).isEqualTo(c.jid());
        assertThat(event.portalIndex()).isEqualTo(c.pt_index());
        assertThat(event.matchBits()).isEqualTo(c.match_bits());
        assertThat(event.requestedLength()).isEqualTo(c.rlength());
        assertThat(event.length()).isEqualTo(c.mlength());
        assertThat(event.offset()).isEqualTo(c.offset());
        assertThat(event.descriptorHandle()).isEqualTo(c.md_handle());
        assertThat(event.descriptorStart()).isEqualTo(c.md().start().address());
        assertThat(event.descriptorLength()).isEqualTo(c.md().length());
        assertThat(event.descriptorThreshold()).isEqualTo(c.md().threshold());
        assertThat(event.descriptorSpaceMin()).isEqualTo(c.md().max_size());
        assertThat(event.descriptorOptions()).isEqualTo(c.md().options());
        assertThat(event.userPointer())
                .isEqualTo(c.md().user_ptr() == null ? 0 : c.md().user_ptr().address());
        assertThat(event.headerData()).isEqualTo(c.hdr_data());
        assertThat(event.link()).isEqualTo(c.link());
        assertThat(event.failure()).isEqualTo(c.ni_fail_type());
        assertThat(event.sequence()).isEqualTo(c.sequence());
    }

    @Test
    @Tag("portals3-27")
    @Tag("portals3-30")
    void shouldLogBothSidesOfAnAcknowledgedPut() {
        MemoryDescriptor atTarget = exposed(rules().userPointer(77), false);
        UnsafeBuffer source = initiatorMemory.buffer(0, 4096);
        source.putStringWithoutLengthAscii(100, "0123456789");
        assertThat(put(bound(), 100, 10, true, 42)).isEqualTo(PortalsOutcome.DELIVERED);
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK);
        assertThat(event.length()).isEqualTo(10);
        expect(targetQueue, PortalsEventKind.PUT_START, PortalsEventKind.PUT_END);
        assertThat(event.headerData()).isEqualTo(42);
        assertThat(event.matchBits()).isEqualTo(BITS);
        assertThat(event.portalIndex()).isEqualTo(INDEX);
        assertThat(event.process()).isEqualTo(initiator.id().target());
        assertThat(event.uid()).isEqualTo(initiator.uid());
        assertThat(event.userPointer()).isEqualTo(77);
        assertThat(event.descriptorHandle()).isEqualTo(atTarget.handle());
        assertThat(event.incarnation()).isEqualTo(initiator.incarnation());
        assertThat(targetMemory.buffer(0, 10).getStringWithoutLengthAscii(0, 10))
                .isEqualTo("0123456789");
    }

    @Test
    @Tag("portals3-37")
    void shouldAnswerDroppedWhenNothingAccepts() {
        MemoryDescriptor from = bound();
        assertThat(put(from, 0, 10, true, 0)).isEqualTo(PortalsOutcome.DROPPED);
        expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        assertThat(target.status(PortalsRegister.DROP_COUNT)).isEqualTo(1);
        assertThat(target.status(PortalsRegister.DROP_LENGTH)).isEqualTo(10);
        assertThat(from.get(0, 10, target.id().target(), INDEX, 0, BITS, 0))
                .isEqualTo(PortalsOutcome.DROPPED);
        PortalsProcess nobody = new PortalsProcess(target.id().nid(), 0xFFF0);
        assertThat(from.put(0, 1, false, nobody.target(), 0, 0, 0, 0, 0))
                .isEqualTo(PortalsOutcome.UNREACHABLE);
    }

    @Test
    @Tag("portals3-51")
    @Tag("portals3-53")
    void shouldGetAPart() {
        exposed(rules().remoteOffset(true), false);
        targetMemory.buffer(0, 64).putStringWithoutLengthAscii(7, "abcd");
        assertThat(bound().get(3, 4, target.id().target(), INDEX, 0, BITS, 7))
                .isEqualTo(PortalsOutcome.DELIVERED);
        expect(initiatorQueue, PortalsEventKind.REPLY_START, PortalsEventKind.REPLY_END);
        assertThat(event.offset()).isEqualTo(3);
        assertThat(event.length()).isEqualTo(4);
        expect(targetQueue, PortalsEventKind.GET_START, PortalsEventKind.GET_END);
        assertThat(initiatorMemory.buffer(0, 8).getStringWithoutLengthAscii(3, 4))
                .isEqualTo("abcd");
    }

    @Test
    @Tag("portals3-57")
    void shouldSwap() {
        exposed(rules().remoteOffset(true), false);
        targetMemory.buffer(0, 64).putLong(8, 1);
        initiatorMemory.buffer(0, 64).putLong(0, 2);
        MemoryDescriptor source =
                initiator.bind(
                        new MemoryDescriptorContext().region(initiatorMemory.address(), 8), false);
        MemoryDescriptor result =
                initiator.bind(
                        new MemoryDescriptorContext().region(initiatorMemory.address() + 64, 8),
                        false);
        assertThat(result.getPut(source, target.id().target(), INDEX, 0, BITS, 8, 0))
                .isEqualTo(PortalsOutcome.DELIVERED);
        assertThat(targetMemory.buffer(0, 64).getLong(8)).isEqualTo(2);
        assertThat(initiatorMemory.buffer(64, 8).getLong(0)).isEqualTo(1);
    }

    @Test
    @Tag("portals3-48")
    @Tag("portals3-63")
    void shouldUnlinkWhenLittleSpaceIsLeft() {
        MemoryDescriptor first =
                exposed(
                        new MemoryDescriptorContext()
                                .region(targetMemory.address(), 100)
                                .acceptPut(true)
                                .startEvents(false)
                                .spaceMin(40)
                                .queue(targetQueue),
                        true);
        MemoryDescriptor second = exposed(rules().startEvents(false), false);
        MemoryDescriptor from = bound();
        for (int i = 0; i < 5; i++) {
            assertThat(put(from, 0, 20, false, i)).isEqualTo(PortalsOutcome.DELIVERED);
        }
        for (int i = 0; i < 4; i++) {
            assertThat(targetQueue.poll(event)).isEqualTo(EventQueue.EVENT);
            assertThat(event.offset()).isEqualTo(20L * i);
            assertThat(event.descriptorHandle()).isEqualTo(first.handle());
        }
        assertThat(targetQueue.poll(event)).isEqualTo(EventQueue.EVENT);
        assertThat(event.kind()).isEqualTo(PortalsEventKind.UNLINK);
        assertThat(first.isLinked()).isFalse();
        expect(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.descriptorHandle()).isEqualTo(second.handle());
        assertThat(second.isLinked()).isTrue();
        first.close();
        first.entry().close();
        assertThat(target.findFault()).isNull();
    }

    @Test
    @Tag("portals3-70")
    void shouldRefuseAnUpdateWhileEventsWait() {
        MemoryDescriptor descriptor = exposed(rules(), false);
        MemoryDescriptor from = bound();
        put(from, 0, 10, false, 0);
        assertThat(descriptor.update(rules(), targetQueue)).isFalse();
        put(from, 0, 10, false, 0);
        while (targetQueue.poll(event) != EventQueue.EMPTY) {
            assertThat(event.offset()).isIn(0L, 10L);
        }
        assertThat(event.offset()).isEqualTo(10);
        assertThat(descriptor.update(rules(), targetQueue)).isTrue();
        put(from, 0, 10, false, 0);
        expect(targetQueue, PortalsEventKind.PUT_START, PortalsEventKind.PUT_END);
        assertThat(event.offset()).isZero();
    }

    @Test
    @Tag("portals3-81")
    @Tag("portals3-83")
    void shouldReportALossOnceAndGoOn() {
        EventQueue small = target.eventQueue(4);
        exposed(rules().startEvents(false).queue(small), false);
        MemoryDescriptor from = bound();
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 6; i++) {
                put(from, 0, 8, false, i);
            }
            assertThat(small.poll(event)).isEqualTo(EventQueue.DROPPED);
            int sequence = event.sequence();
            assertThat(event.headerData()).isEqualTo(2);
            for (int i = 3; i < 6; i++) {
                assertThat(small.poll(event)).isEqualTo(EventQueue.EVENT);
                assertThat(event.headerData()).isEqualTo(i);
                assertThat(event.sequence()).isEqualTo(++sequence);
            }
            assertThat(small.poll(event)).isEqualTo(EventQueue.EMPTY);
        }
        assertThat(target.status(PortalsRegister.RECEIVE_COUNT)).isEqualTo(18);
    }

    @Test
    @Tag("portals3-23")
    void shouldKeepOutWhomAccessControlDoesNotAdmit() {
        exposed(rules(), false);
        MemoryDescriptor from = bound();
        target.access(0, ANY, initiator.id().pid() + 1, ANY, ANY, ANY);
        assertThat(put(from, 0, 8, false, 0)).isEqualTo(PortalsOutcome.DROPPED);
        target.access(0, ANY, ANY, ANY, ANY, ANY);
        assertThat(put(from, 0, 8, false, 0)).isEqualTo(PortalsOutcome.DELIVERED);
    }

    @Test
    void shouldNameCallCodeAndObjectWhenACallFails() {
        MemoryDescriptor descriptor = exposed(rules(), false);
        assertThatThrownBy(() -> descriptor.entry().attach(rules(), MemoryDescriptor.RETAIN))
                .isInstanceOfSatisfying(
                        PortalsException.class,
                        e -> assertThat(e.code()).isEqualTo(PortalsCode.ME_IN_USE))
                .hasMessageStartingWith("PtlMDAttach: ")
                .hasMessageContaining("PTL_ME_IN_USE")
                .hasMessageContaining("match entry");
        assertThatThrownBy(
                        () ->
                                target.attach(
                                        64,
                                        MatchEntryContext.of(
                                                ANY, ANY, 0, 0, false, MatchEntry.AFTER)))
                .isInstanceOf(PortalsException.class)
                .hasMessageContaining("PTL_PT_INDEX_INVALID");
        assertThatThrownBy(() -> target.status(99)).isInstanceOf(PortalsException.class);
        assertThat(bound().put(4090, 7, false, target.id().target(), INDEX, 0, BITS, 0, 0))
                .isEqualTo(-PortalsCode.MD_ILLEGAL);
    }

    @Test
    void shouldThrowAndNotCrashAfterClose() {
        MemoryDescriptor descriptor = exposed(rules(), false);
        UnsafeBuffer window = targetMemory.buffer(0, 64);
        assertThatThrownBy(target::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("open objects");
        assertThatThrownBy(targetMemory::close)
                .isInstanceOfSatisfying(
                        PortalsException.class,
                        e -> assertThat(e.code()).isEqualTo(PortalsCode.MD_IN_USE));
        MatchEntry entry = descriptor.entry();
        entry.close();
        entry.close();
        descriptor.close();
        targetQueue.close();
        targetMemory.close();
        assertThat(window.capacity()).isZero();
        assertThatThrownBy(() -> targetQueue.poll(event)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> targetMemory.address()).isInstanceOf(IllegalStateException.class);
        target.close();
        target.close();
        assertThatThrownBy(() -> target.doorbell()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> descriptor.put(0, 0, false, target.id().target(), 0, 0, 0, 0, 0))
                .isInstanceOf(IllegalStateException.class);
        target.ring();
    }

    @Test
    void shouldKeepMemoryWhileADescriptorLiesAnywhereInIt() {
        PortalsMemory memory = initiator.allocate(8192);
        long last = memory.address() + 8191;
        MemoryDescriptor inside =
                initiator.bind(new MemoryDescriptorContext().region(last, 1), false);
        assertThatThrownBy(memory::close)
                .isInstanceOfSatisfying(
                        PortalsException.class,
                        e -> assertThat(e.code()).isEqualTo(PortalsCode.MD_IN_USE));
        inside.close();
        memory.close();
    }

    @Test
    void shouldRefuseADescriptorOverMemoryThatIsClosed() {
        PortalsMemory memory = initiator.allocate(4096);
        MemoryDescriptorContext over = new MemoryDescriptorContext().memory(memory);
        MemoryDescriptor bound = bound();
        MatchEntry entry =
                initiator.attach(
                        INDEX, MatchEntryContext.of(ANY, ANY, BITS, 0, false, MatchEntry.AFTER));
        MatchEntryContext both = new MatchEntryContext().descriptor(over);
        memory.close();
        for (ThrowingCallable call :
                List.<ThrowingCallable>of(
                        () -> initiator.bind(over, false),
                        () -> entry.attach(over, false),
                        () -> bound.update(over, null),
                        () -> initiator.attach(INDEX, both))) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("closed: memory of 4096 bytes");
        }
        initiator.bind(over.region(0, 0), false).close();
    }

    @Test
    void shouldRefuseADescriptorOverMemoryOfAnotherInterface() {
        MemoryDescriptorContext over = new MemoryDescriptorContext().memory(targetMemory);
        assertThatThrownBy(() -> initiator.bind(over, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("memory of 4096 bytes belongs to another interface");
    }

    @Test
    void shouldEmptyQueuesWhenTheInterfaceCloses() {
        exposed(rules(), false);
        MemoryDescriptor from = bound();
        put(from, 0, 8, false, 0);
        target.closeAll();
        assertThatThrownBy(() -> targetQueue.poll(event)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> targetMemory.buffer(0, 1))
                .isInstanceOf(IllegalStateException.class);
        assertThat(put(from, 0, 8, false, 0)).isEqualTo(PortalsOutcome.UNREACHABLE);
    }

    @Test
    void shouldRefuseAnotherThread() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread other =
                new Thread(
                        () -> {
                            try {
                                initiatorQueue.poll(event);
                            } catch (RuntimeException e) {
                                thrown.set(e);
                            }
                        });
        other.start();
        other.join();
        assertThat(thrown.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("owned by thread");
    }

    @Test
    @Tag("portals3-77")
    void shouldWakeWhenAnEventIsLogged() throws InterruptedException {
        exposed(rules(), false);
        int seen = target.doorbell();
        Thread sender =
                new Thread(
                        () -> {
                            initiator.moveTo(Thread.currentThread());
                            put(bound(), 0, 8, false, 1);
                        });
        sender.start();
        while (targetQueue.poll(event) == EventQueue.EMPTY) {
            assertThat(target.await(seen, 50_000_000_000L)).isTrue();
            seen = target.doorbell();
        }
        sender.join();
        assertThat(event.kind()).isEqualTo(PortalsEventKind.PUT_START);
        assertThat(event.headerData()).isEqualTo(1);
    }
}
