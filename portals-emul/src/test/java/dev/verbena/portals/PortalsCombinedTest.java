package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cray's calls that make an entry and its descriptor in one step, through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsCombinedTest extends PortalsPair {
    /** An entry that goes with its descriptor, which goes when it is used up. */
    private static MatchEntryContext entry(MemoryDescriptorContext rules) {
        return new MatchEntryContext().matchBits(BITS).unlink().descriptorThatUnlinks(rules);
    }

    private MatchEntry attached(MemoryDescriptorContext rules) {
        return target.attach(INDEX, entry(rules));
    }

    private static MatchEntry posted(
            MatchEntry base, MemoryDescriptorContext rules, EventQueue queue) {
        return base.post(entry(rules).before(), queue);
    }

    private void tookAt(long offset) {
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.descriptorStart()).isEqualTo(targetMemory.address() + offset);
    }

    @Test
    void shouldAttachAnEntryThatAcceptsAtOnce() {
        MatchEntry entry = attached(quiet(64, 32).threshold(1));
        assertThat(entry.descriptor().threshold()).isEqualTo(1);
        assertThat(entry.descriptor().entry()).isSameAs(entry);
        delivered(put(silent(32), 32, false));
        tookAt(64);
        assertThat(event.descriptorHandle()).isEqualTo(entry.descriptor().handle());
        assertThat(there.getByte(64 + 31)).isEqualTo(sent.getByte(31));
        take(targetQueue, PortalsEventKind.UNLINK);
        assertThat(entry.descriptor().isLinked()).isFalse();
        dropped(put(silent(32), 32, false));
    }

    @Test
    void shouldInsertBeforeAndBehindABase() {
        MatchEntry base = attached(quiet(0, 8).threshold(1));
        base.insert(entry(quiet(200, 8).threshold(1)));
        base.insert(entry(quiet(100, 8).threshold(1)).before());
        for (long offset : new long[] {100, 0, 200}) {
            delivered(put(silent(8), 8, false));
            tookAt(offset);
            take(targetQueue, PortalsEventKind.UNLINK);
        }
        dropped(put(silent(8), 8, false));
    }

    @Test
    @Tag("portals3-94")
    void shouldPostOnlyWhenTheQueueIsEmpty() {
        MatchEntry base = attached(quiet(0, 64));
        delivered(put(silent(8), 8, false));
        long entries = target.status(PortalsRegister.MATCH_ENTRIES);
        assertThat(posted(base, quiet(128, 64), targetQueue)).isNull();
        assertThat(target.status(PortalsRegister.MATCH_ENTRIES)).isEqualTo(entries);
        tookAt(0);
        MatchEntry entry = posted(base, quiet(128, 64), targetQueue);
        assertThat(entry).isNotNull();
        assertThat(target.status(PortalsRegister.MATCH_ENTRIES)).isEqualTo(entries + 1);
        delivered(put(silent(8), 8, false));
        tookAt(128);
        entry.close();
        assertThat(entry.descriptor().isLinked()).isFalse();
        delivered(put(silent(8), 8, false));
        tookAt(0);
    }

    @Test
    void shouldMakeNothingWhenEitherIsRefused() {
        MatchEntry base = attached(quiet(0, 64));
        long entries = target.status(PortalsRegister.MATCH_ENTRIES);
        long descriptors = target.status(PortalsRegister.DESCRIPTORS);
        MemoryDescriptorContext bad = quiet(0, 64).region(-16, 64);
        assertThatThrownBy(() -> attached(bad)).hasMessageContaining("PtlMEMDAttach: PTL_MD_ILL");
        assertThatThrownBy(() -> base.insert(entry(bad).before()))
                .hasMessageContaining("PtlMEMDInsert: PTL_MD_ILL");
        assertThatThrownBy(() -> posted(base, bad, targetQueue))
                .hasMessageContaining("PtlMEMDPost: PTL_MD_ILL");
        assertThat(target.status(PortalsRegister.MATCH_ENTRIES)).isEqualTo(entries);
        assertThat(target.status(PortalsRegister.DESCRIPTORS)).isEqualTo(descriptors);
        MatchEntry gone = attached(quiet(0, 8));
        gone.close();
        assertThatThrownBy(() -> gone.insert(entry(quiet(0, 8)).before()))
                .isInstanceOf(IllegalStateException.class);
        EventQueue other = initiatorQueue;
        assertThatThrownBy(() -> attached(quiet(0, 8).queue(other)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> posted(base, quiet(0, 8), other))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * The receive of a message-passing library: what came before it is in the queue, or it waits.
     */
    @Test
    @Tag("portals3-94")
    void shouldLoseNothingBetweenLookingAndPosting() throws InterruptedException {
        int messages = 300;
        EventQueue large = target.eventQueue(1024);
        // Takes what was not expected.
        MatchEntry last = attached(quiet(4096, 4096).queue(large));
        AtomicBoolean isOver = new AtomicBoolean();
        Thread sender =
                start(
                        () -> {
                            initiator.moveTo(Thread.currentThread());
                            MemoryDescriptor from = silent(1);
                            for (int i = 0; i < messages; i++) {
                                delivered(put(from, 1, false));
                                Thread.yield();
                            }
                            isOver.set(true);
                        });
        int expected = 0;
        int surprising = 0;
        MatchEntry receive = null;
        while (!isOver.get() || receive == null || expected + surprising < messages) {
            if (large.poll(event) == EventQueue.EVENT) {
                if (event.kind() != PortalsEventKind.PUT_END) {
                    continue;
                }
                boolean isExpected = event.descriptorStart() == targetMemory.address();
                // Once a receive is posted nothing goes past it.
                assertThat(isExpected).isEqualTo(receive != null);
                expected += isExpected ? 1 : 0;
                surprising += isExpected ? 0 : 1;
                receive = null;
            } else if (receive == null) {
                receive = posted(last, quiet(0, 8).threshold(1).queue(large), large);
            }
        }
        join(sender);
        assertThat(expected + surprising).isEqualTo(messages);
        assertThat(large.poll(event)).isEqualTo(EventQueue.EMPTY);
    }
}
