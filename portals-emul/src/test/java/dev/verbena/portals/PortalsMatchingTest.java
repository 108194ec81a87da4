package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Match lists through the Java objects (assertions 12 to 21). */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsMatchingTest extends PortalsPair {
    /** Takes one put to this offset, then goes with its entry. */
    private MatchEntry probe(MatchEntry entry, int offset) {
        entry.attach(quiet(offset, 1).threshold(1), MemoryDescriptor.UNLINK);
        return entry;
    }

    private MatchEntry attach(boolean position) {
        return target.attach(
                INDEX, MatchEntryContext.of(ANY, ANY, BITS, 0, MatchEntry.UNLINK, position));
    }

    private void expectOrder(int... offsets) {
        MemoryDescriptor from = silent(1);
        for (int offset : offsets) {
            delivered(put(from, 1, false));
            assertThat(take(targetQueue, PortalsEventKind.PUT_END).descriptorStart())
                    .isEqualTo(targetMemory.address() + offset);
            take(targetQueue, PortalsEventKind.UNLINK);
        }
        dropped(put(from, 1, false));
    }

    @Test
    @Tag("portals3-12")
    void shouldAttachUpToTheLastPortalIndex() {
        int last = target.limits().portalIndexMax();
        target.attach(last, MatchEntryContext.of(ANY, ANY, 0, 0, false, MatchEntry.AFTER));
        assertThatThrownBy(
                        () ->
                                target.attach(
                                        last + 1,
                                        MatchEntryContext.of(
                                                ANY, ANY, 0, 0, false, MatchEntry.AFTER)))
                .hasMessageContaining("PTL_PT_INDEX_INVALID");
    }

    @Test
    @Tag("portals3-13")
    void shouldServeEntriesInTheOrderOfTheList() {
        probe(attach(MatchEntry.AFTER), 0);
        probe(attach(MatchEntry.AFTER), 1);
        expectOrder(0, 1);
        probe(attach(MatchEntry.BEFORE), 2);
        probe(attach(MatchEntry.BEFORE), 3);
        expectOrder(3, 2);
    }

    @Test
    @Tag("portals3-14")
    void shouldInsertBeforeAndAfterAnEntryInTheMiddle() {
        MatchEntry first = probe(attach(MatchEntry.AFTER), 0);
        MatchEntry middle = probe(attach(MatchEntry.AFTER), 1);
        probe(attach(MatchEntry.AFTER), 2);
        probe(
                middle.insert(
                        MatchEntryContext.of(
                                ANY, ANY, BITS, 0, MatchEntry.UNLINK, MatchEntry.BEFORE)),
                3);
        probe(
                middle.insert(
                        MatchEntryContext.of(
                                ANY, ANY, BITS, 0, MatchEntry.UNLINK, MatchEntry.AFTER)),
                4);
        expectOrder(0, 3, 1, 4, 2);
        assertThatThrownBy(
                        () ->
                                first.insert(
                                        MatchEntryContext.of(
                                                ANY, ANY, 0, 0, false, MatchEntry.AFTER)))
                .hasMessageContaining("PTL_ME_INVALID");
    }

    @Test
    @Tag("portals3-15")
    void shouldFindFreeListsUntilAllAreTaken() {
        target.attach(INDEX, MatchEntryContext.of(ANY, ANY, 0, 0, false, MatchEntry.AFTER));
        boolean[] seen = new boolean[target.limits().portalIndexMax() + 1];
        seen[INDEX] = true;
        MatchEntry any = null;
        for (int i = 1; i < seen.length; i++) {
            any = target.attachAny(ANY, ANY, 0, 0, MatchEntry.RETAIN);
            assertThat(seen[any.portalIndex()]).isFalse();
            seen[any.portalIndex()] = true;
        }
        assertThatThrownBy(() -> target.attachAny(ANY, ANY, 0, 0, MatchEntry.RETAIN))
                .hasMessageContaining("PTL_PT_FULL");
        int freed = any.portalIndex();
        any.close();
        assertThat(target.attachAny(ANY, ANY, 0, 0, MatchEntry.RETAIN).portalIndex())
                .isEqualTo(freed);
    }

    @Test
    @Tag("portals3-16")
    void shouldRefuseAnEntryMoreThanAListMayHave() {
        openBoth(new PortalsInterfaceContext().job(job));
        int longest = target.limits().matchListMax();
        for (int i = 0; i < longest; i++) {
            target.attach(INDEX, MatchEntryContext.of(ANY, ANY, i, 0, false, MatchEntry.AFTER));
        }
        assertThatThrownBy(
                        () ->
                                target.attach(
                                        INDEX,
                                        MatchEntryContext.of(
                                                ANY, ANY, 0, 0, false, MatchEntry.AFTER)))
                .hasMessageContaining("PTL_ME_LIST_TOO_LONG");
    }

    @Test
    @Tag("portals3-17")
    void shouldTakeTheDescriptorAwayWithItsEntry() {
        MemoryDescriptor descriptor = post(rules(8), MatchEntry.RETAIN);
        MatchEntry entry = descriptor.entry();
        entry.close();
        assertThat(descriptor.isLinked()).isFalse();
        assertThatThrownBy(() -> entry.attach(rules(8), false))
                .isInstanceOf(IllegalStateException.class);
        dropped(put(silent(8), 8, false));
        assertThat(drops()).isEqualTo(1);
        expect(targetQueue);
    }

    @Test
    @Tag("portals3-18")
    void shouldSkipAnEntryWithoutDescriptor() {
        target.attach(
                INDEX,
                MatchEntryContext.of(ANY, ANY, BITS, 0, MatchEntry.RETAIN, MatchEntry.AFTER));
        post(rules(8), false);
        delivered(put(silent(8), 8, false));
        expect(targetQueue, PortalsEventKind.PUT_START, PortalsEventKind.PUT_END);
    }

    @Test
    @Tag("portals3-19")
    @Tag("portals3-20")
    void shouldCompareEveryBitThatIsNotIgnored() {
        long ignored = 0x00FF_0000_0000_8001L;
        target.attach(INDEX, MatchEntryContext.of(ANY, ANY, BITS, ignored, false, MatchEntry.AFTER))
                .attach(rules(8).queue(null), false);
        target.attach(INDEX + 1, MatchEntryContext.of(ANY, ANY, 0, -1, false, MatchEntry.AFTER))
                .attach(rules(8).queue(null), false);
        MemoryDescriptor from = silent(0);
        for (int bit = 0; bit < 64; bit++) {
            int outcome = put(from, 0, false, BITS ^ 1L << bit, 0, 0);
            if ((ignored >>> bit & 1) == 1) {
                delivered(outcome);
            } else {
                dropped(outcome);
            }
            delivered(from.put(0, 0, false, target.id().target(), INDEX + 1, 0, 1L << bit, 0, 0));
        }
    }

    @Test
    @Tag("portals3-21")
    void shouldTakeFromTheSourceThatAnEntryNamesOnly() {
        int nid = initiator.id().nid();
        int pid = initiator.id().pid();
        int[][] sources = {
            {nid, ANY}, {ANY, pid}, {nid, pid}, {ANY, ANY}, {nid + 1, pid}, {nid, otherPid()}
        };
        MemoryDescriptor from = silent(0);
        for (int i = 0; i < sources.length; i++) {
            target.attach(
                            INDEX,
                            MatchEntryContext.of(
                                    sources[i][0], sources[i][1], i, 0, false, MatchEntry.AFTER))
                    .attach(rules(8), false);
            int outcome = put(from, 0, false, i, 0, 0);
            if (i < 4) {
                delivered(outcome);
            } else {
                dropped(outcome);
            }
        }
    }
}
