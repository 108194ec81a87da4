package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Updates and event queues through the Java objects (assertions 66, 71 to 80, 85). */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsUpdateTest extends PortalsPair {
    @Test
    @Tag("portals3-66")
    void shouldMatchNothingUntilItHasAThreshold() {
        MemoryDescriptor descriptor = post(quiet(0, 100).threshold(0), MatchEntry.RETAIN);
        MemoryDescriptor from = silent(4);
        dropped(put(from, 4, false));
        expect(targetQueue);
        assertThat(descriptor.isLinked()).isTrue();
        assertThat(descriptor.update(quiet(0, 100).threshold(1), null)).isTrue();
        delivered(put(from, 4, false));
        expect(targetQueue, PortalsEventKind.PUT_END);
    }

    @Test
    @Tag("portals3-71")
    void shouldUpdateWithoutAQueueWhateverWaits() {
        MemoryDescriptor descriptor = post(quiet(0, 100), false);
        MemoryDescriptor from = silent(4);
        delivered(put(from, 4, false));
        assertThat(descriptor.threshold()).isEqualTo(MemoryDescriptorContext.INFINITE);
        assertThat(descriptor.update(quiet(200, 100).threshold(5), null)).isTrue();
        delivered(put(from, 4, false));
        take(targetQueue, PortalsEventKind.PUT_END);
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.descriptorStart()).isEqualTo(targetMemory.address() + 200);
        assertThat(event.offset()).isZero();
        assertThat(descriptor.threshold()).isEqualTo(4);
    }

    @Test
    @Tag("portals3-73")
    void shouldNeverBeHalfUpdatedUnderPuts() throws InterruptedException {
        EventQueue large = target.eventQueue(4096);
        MemoryDescriptorContext[] regions = {
            quiet(0, 64).remoteOffset(true).queue(large),
            quiet(4096, 64).remoteOffset(true).queue(large)
        };
        MemoryDescriptor descriptor = post(regions[0], MatchEntry.RETAIN);
        AtomicBoolean isOver = new AtomicBoolean();
        Thread sender =
                start(
                        () -> {
                            initiator.moveTo(Thread.currentThread());
                            MemoryDescriptor from = silent(64);
                            while (!isOver.get()) {
                                delivered(put(from, 64, false));
                                Thread.yield();
                            }
                        });
        int at = 0;
        for (int updates = 0; updates < 100; ) {
            int code = large.poll(event);
            if (code == EventQueue.EVENT) {
                assertThat(event.descriptorStart()).isEqualTo(targetMemory.address() + 4096L * at);
            } else if (code == EventQueue.EMPTY && descriptor.update(regions[1 - at], large)) {
                at = 1 - at;
                updates++;
            }
        }
        isOver.set(true);
        join(sender);
    }

    @Test
    @Tag("portals3-74")
    @Tag("portals3-75")
    void shouldStayAsItWasAfterABadUpdate() {
        MemoryDescriptor descriptor = post(quiet(0, 100).threshold(2), MatchEntry.UNLINK);
        MemoryDescriptor from = silent(4);
        delivered(put(from, 4, false));
        MemoryDescriptorContext beyond = quiet(0, 0).region(-8, 64);
        assertThatThrownBy(() -> descriptor.update(beyond, null))
                .hasMessageContaining("PTL_MD_ILLEGAL");
        EventQueue closed = target.eventQueue(4);
        closed.close();
        assertThatThrownBy(() -> descriptor.update(quiet(0, 100).queue(closed), null))
                .isInstanceOf(IllegalStateException.class);
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(descriptor.threshold()).isEqualTo(1);
        delivered(put(from, 4, false));
        assertThat(take(targetQueue, PortalsEventKind.PUT_END).offset()).isEqualTo(4);
        descriptor.entry(); // both went by themselves
        assertThatThrownBy(() -> descriptor.update(quiet(0, 100), null))
                .hasMessageContaining("PTL_MD_INVALID");
    }

    @Test
    @Tag("portals3-76")
    @Tag("portals3-80")
    void shouldAnswerEmptyAtOnceAndRefuseQueuesThatAreNone() {
        assertThat(targetQueue.poll(event)).isEqualTo(EventQueue.EMPTY);
        EventQueue closed = target.eventQueue(4);
        closed.close();
        assertThatThrownBy(() -> closed.poll(event)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> target.pollAny(new EventQueue[0], event, 0))
                .isInstanceOf(IllegalArgumentException.class);
        EventQueue[] mixed = {targetQueue, initiatorQueue};
        assertThatThrownBy(() -> target.pollAny(mixed, event, 0))
                .isInstanceOf(IllegalArgumentException.class);
        EventQueue[] withClosed = {targetQueue, closed};
        assertThatThrownBy(() -> target.pollAny(withClosed, event, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Tag("portals3-85")
    void shouldSeeTheBytesWhenItHasTheEvent() throws InterruptedException {
        post(quiet(0, 4096).remoteOffset(true), false);
        AtomicBoolean isTaken = new AtomicBoolean(true);
        Thread sender =
                start(
                        () -> {
                            initiator.moveTo(Thread.currentThread());
                            MemoryDescriptor from = silent(4096);
                            for (int i = 1; i <= 100; i++) {
                                while (!isTaken.compareAndSet(true, false)) {
                                    Thread.yield();
                                }
                                sent.setMemory(0, 4096, (byte) i);
                                delivered(put(from, 4096, false, BITS, 0, i));
                            }
                        });
        for (int i = 1; i <= 100; i++) {
            assertThat(targetQueue.await(event, 50_000_000_000L)).isEqualTo(EventQueue.EVENT);
            assertThat(event.headerData()).isEqualTo(i);
            for (int at = 0; at < 4096; at += 8) {
                assertThat(there.getLong(at)).isEqualTo(0x0101_0101_0101_0101L * i);
            }
            isTaken.set(true);
        }
        join(sender);
    }
}
