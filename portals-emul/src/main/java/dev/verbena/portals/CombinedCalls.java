package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import java.lang.ref.Reference;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Cray's calls that make a match entry and its descriptor in one step, of one interface. C takes
 * the descriptor's rules from eight words, and leaves its handle in the first.
 */
final class CombinedCalls {
    private static final int WORDS_LENGTH = 64;

    private final PortalsInterface owner;
    private final UnsafeBuffer words =
            new UnsafeBuffer(
                    BufferUtil.allocateDirectAligned(WORDS_LENGTH, BitUtil.CACHE_LINE_LENGTH));

    CombinedCalls(PortalsInterface owner) {
        this.owner = owner;
    }

    /** C: {@code PtlMEMDAttach}. */
    MatchEntry attach(int portalIndex, MatchEntryContext c) {
        long made =
                portals.vpn_memd_attach(
                        owner.handle(),
                        portalIndex,
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        c.position ? 1 : 0,
                        wordsOf(c));
        return entry("PtlMEMDAttach", owner, made, portalIndex, c);
    }

    /** C: {@code PtlMEMDInsert}. */
    MatchEntry insert(MatchEntry base, MatchEntryContext c) {
        long made =
                portals.vpn_memd_insert(
                        base.handle(),
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        c.position ? 1 : 0,
                        wordsOf(c));
        return entry("PtlMEMDInsert", base, made, base.portalIndex(), c);
    }

    /** C: {@code PtlMEMDPost}. Null if the queue is not empty, or busy. */
    MatchEntry post(MatchEntry base, MatchEntryContext c, EventQueue testQueue) {
        if (testQueue.owner != owner) {
            throw new IllegalArgumentException(testQueue + " belongs to another interface");
        }
        testQueue.checkOpen();
        long made =
                portals.vpn_memd_post(
                        owner.handle(),
                        base.handle(),
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        c.position ? 1 : 0,
                        wordsOf(c),
                        testQueue.handle());
        return entry("PtlMEMDPost", base, made, base.portalIndex(), c);
    }

    private long wordsOf(MatchEntryContext c) {
        MemoryDescriptorContext context = c.descriptor;
        words.putLong(0, context.addressFor(owner));
        words.putLong(8, context.length);
        words.putLong(16, context.threshold);
        words.putLong(24, context.spaceMin);
        words.putLong(32, context.options);
        words.putLong(40, context.userPointer);
        words.putLong(48, context.queueHandle(owner));
        words.putLong(56, c.unlinkDescriptor ? 1 : 0);
        return words.addressOffset();
    }

    private MatchEntry entry(
            String call, Object object, long made, int portalIndex, MatchEntryContext c) {
        Reference.reachabilityFence(c.descriptor); // its segments, until C has copied them
        if (owner.isTraced()) {
            String text = c.descriptor.text(c.unlinkDescriptor);
            owner.trace(call, "bits=0x%x %s".formatted(c.matchBits, text), made);
        }
        if (made == -PortalsCode.MD_NO_UPDATE) {
            return null;
        }
        PortalsNative.check(call, made, object);
        MatchEntry entry = new MatchEntry(owner, (int) made, portalIndex, c);
        int descriptor = (int) words.getLong(0);
        return entry.with(new MemoryDescriptor(owner, descriptor, c.descriptor, entry));
    }
}
