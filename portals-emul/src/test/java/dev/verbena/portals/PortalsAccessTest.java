package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Interfaces, registers and access control through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsAccessTest extends PortalsPair {
    private int putBy(int accessIndex) {
        return silent(0).put(0, 0, false, target.id().target(), INDEX, accessIndex, BITS, 0, 0);
    }

    @Test
    @Tag("portals3-3")
    @Tag("portals3-4")
    void shouldHaveThePidThatItAskedForUnlessItIsTaken() {
        assertThat(target.id().pid()).isBetween(1, 0xFFFE);
        try (PortalsInterface other = PortalsInterface.open(context().pid(4711))) {
            assertThat(other.id().pid()).isEqualTo(4711);
            assertThatThrownBy(() -> PortalsInterface.open(context().pid(4711)))
                    .isInstanceOfSatisfying(
                            PortalsException.class,
                            e -> assertThat(e.code()).isEqualTo(PortalsCode.PID_INVALID));
        }
    }

    @Test
    @Tag("portals3-6")
    void shouldGrantWhatIsAskedForAndCutWhatIsTooMuch() {
        PortalsLimits granted = target.limits();
        assertThat(granted.matchEntriesMax()).isEqualTo(128);
        assertThat(granted.descriptorsMax()).isEqualTo(128);
        assertThat(granted.eventQueuesMax()).isEqualTo(16);
        int tooMany = 1 << 30;
        try (PortalsInterface all = PortalsInterface.open(new PortalsInterfaceContext().job(job));
                PortalsInterface cut =
                        PortalsInterface.open(
                                new PortalsInterfaceContext()
                                        .job(job)
                                        .matchEntriesMax(tooMany)
                                        .descriptorsMax(tooMany)
                                        .eventQueuesMax(tooMany))) {
            assertThat(cut.limits()).isEqualTo(all.limits());
            assertThat(cut.limits().matchEntriesMax()).isLessThan(tooMany);
        }
    }

    @Test
    @Tag("portals3-6")
    void shouldGrantEachLimitByItselfAndRefuseOneMore() throws Exception {
        PortalsLimits all;
        try (PortalsInterface any = PortalsInterface.open(new PortalsInterfaceContext().job(job))) {
            all = any.limits();
        }
        int entries = all.matchEntriesMax();
        int descriptors = all.descriptorsMax();
        try (PortalsInterface few =
                PortalsInterface.open(new PortalsInterfaceContext().job(job).matchEntriesMax(2))) {
            assertThat(few.limits()).isEqualTo(limits(2, descriptors, all.eventQueuesMax(), all));
            refusesTheThird(
                    () -> few.attach(1, MatchEntryContext.of(ANY, ANY, 0, 0, false, false)));
        }
        try (PortalsInterface few =
                PortalsInterface.open(new PortalsInterfaceContext().job(job).descriptorsMax(2))) {
            assertThat(few.limits()).isEqualTo(limits(entries, 2, all.eventQueuesMax(), all));
            refusesTheThird(() -> few.bind(new MemoryDescriptorContext(), false));
        }
        try (PortalsInterface few =
                PortalsInterface.open(new PortalsInterfaceContext().job(job).eventQueuesMax(2))) {
            assertThat(few.limits()).isEqualTo(limits(entries, descriptors, 2, all));
            refusesTheThird(() -> few.eventQueue(4));
        }
    }

    private static PortalsLimits limits(
            int matchEntries, int descriptors, int eventQueues, PortalsLimits rest) {
        return new PortalsLimits(
                matchEntries,
                descriptors,
                eventQueues,
                rest.accessIndexMax(),
                rest.portalIndexMax(),
                rest.segmentsMax(),
                rest.matchListMax(),
                rest.getPutLengthMax());
    }

    private static void refusesTheThird(Supplier<? extends AutoCloseable> make) throws Exception {
        try (AutoCloseable first = make.get();
                AutoCloseable second = make.get()) {
            assertThat(first).isNotSameAs(second);
            assertThatThrownBy(make::get)
                    .isInstanceOfSatisfying(
                            PortalsException.class,
                            e -> assertThat(e.code()).isEqualTo(PortalsCode.NO_SPACE));
        }
    }

    @Test
    @Tag("portals3-9")
    void shouldKnowItsRegisters() {
        assertThat(drops()).isZero();
        assertThatThrownBy(() -> target.status(77)).hasMessageContaining("PTL_SR_INDEX_INVALID");
    }

    @Test
    @Tag("portals3-10")
    void shouldBeNoFartherFromItselfThanFromAnother() {
        assertThat(target.distance(target.id()))
                .isLessThanOrEqualTo(target.distance(initiator.id()));
    }

    @Test
    @Tag("portals3-22")
    @Tag("portals3-23")
    @Tag("portals3-24")
    void shouldAdmitByEachFieldOfTheEntryThatTheRequestNames() {
        post(rules(8), false);
        int nid = initiator.id().nid();
        int pid = initiator.id().pid();
        int uid = initiator.uid();
        int jid = initiator.jid();
        int[][] closed = {
            {nid + 1, ANY, ANY, ANY, ANY},
            {ANY, otherPid(), ANY, ANY, ANY},
            {ANY, ANY, uid + 1, ANY, ANY},
            {ANY, ANY, ANY, jid + 1, ANY},
            {ANY, ANY, ANY, ANY, INDEX + 1}
        };
        for (int i = 0; i < closed.length; i++) {
            int[] e = closed[i];
            target.access(i, e[0], e[1], e[2], e[3], e[4]);
            dropped(putBy(i));
            delivered(putBy(i + 1)); // which is as it was
            target.access(i, ANY, ANY, ANY, ANY, ANY);
            delivered(putBy(i));
            target.access(i, nid, pid, uid, jid, INDEX);
            delivered(putBy(i));
        }
        dropped(putBy(target.limits().accessIndexMax() + 1));
        dropped(putBy(-1));
    }

    @Test
    @Tag("portals3-25")
    void shouldLetAnswersThroughToOneThatAdmitsNobody() {
        post(rules(64), false);
        for (int i = 0; i <= initiator.limits().accessIndexMax(); i++) {
            initiator.access(i, 4242, 4242, 0x7FFF_FFFF, 0x7FFF_FFFF, 0);
        }
        MemoryDescriptor from = bound(from(8));
        delivered(put(from, 8, true));
        delivered(get(from, 8, BITS));
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK,
                PortalsEventKind.REPLY_START,
                PortalsEventKind.REPLY_END);
    }

    @Test
    @Tag("portals3-26")
    void shouldRefuseEntriesThatThereAreNot() {
        int last = target.limits().accessIndexMax();
        assertThatThrownBy(() -> target.access(last + 1, ANY, ANY, ANY, ANY, ANY))
                .hasMessageContaining("PTL_AC_INDEX_INVALID");
        int portals = target.limits().portalIndexMax();
        assertThatThrownBy(() -> target.access(0, ANY, ANY, ANY, ANY, portals + 1))
                .hasMessageContaining("PTL_PT_INDEX_INVALID");
        target.access(last, ANY, ANY, ANY, ANY, ANY);
    }

    @Test
    @Tag("portals3-93")
    void shouldLeaveNothingBehindAfterManyCycles() {
        MemoryDescriptorContext rules = rules(8);
        for (int i = 0; i < 100_000; i++) {
            target.attach(
                            INDEX,
                            MatchEntryContext.of(
                                    ANY, ANY, BITS, 0, MatchEntry.UNLINK, MatchEntry.AFTER))
                    .attach(rules, MemoryDescriptor.UNLINK)
                    .entry()
                    .close();
        }
        assertThat(target.status(PortalsRegister.MATCH_ENTRIES)).isZero();
        assertThat(target.status(PortalsRegister.DESCRIPTORS)).isZero();
        assertThat(target.status(PortalsRegister.MATCH_ENTRIES_MAX)).isEqualTo(1);
        for (int i = 0; i < 1000; i++) {
            target.eventQueue(64).close();
        }
        assertThat(target.status(PortalsRegister.EVENT_QUEUES)).isEqualTo(1);
    }
}
