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

    /** Which requests an entry takes, and when it goes. */
    record Criteria(
            int portalIndex, int nid, int pid, long matchBits, long ignoreBits, boolean unlink) {}

    /** C: {@code PtlMEMDAttach}. */
    MatchEntry attach(
            Criteria c, boolean position, MemoryDescriptorContext context, boolean unlink) {
        long made =
                portals.vpn_memd_attach(
                        owner.handle(),
                        c.portalIndex,
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        position ? 1 : 0,
                        wordsOf(context, unlink));
        return entry("PtlMEMDAttach", owner, made, c, context, unlink);
    }

    /** C: {@code PtlMEMDInsert}. */
    MatchEntry insert(
            MatchEntry base,
            Criteria c,
            boolean position,
            MemoryDescriptorContext context,
            boolean unlink) {
        long made =
                portals.vpn_memd_insert(
                        base.handle(),
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink ? 1 : 0,
                        position ? 1 : 0,
                        wordsOf(context, unlink));
        return entry("PtlMEMDInsert", base, made, c, context, unlink);
    }

    /** C: {@code PtlMEMDPost}. Null if the queue is not empty, or busy. */
    MatchEntry post(
            MatchEntry base,
            Criteria c,
            boolean position,
            MemoryDescriptorContext context,
            boolean unlink,
            EventQueue testQueue) {
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
                        position ? 1 : 0,
                        wordsOf(context, unlink),
                        testQueue.handle());
        return entry("PtlMEMDPost", base, made, c, context, unlink);
    }

    private long wordsOf(MemoryDescriptorContext context, boolean unlink) {
        words.putLong(0, context.address());
        words.putLong(8, context.length());
        words.putLong(16, context.threshold());
        words.putLong(24, context.spaceMin());
        words.putLong(32, context.options());
        words.putLong(40, context.userPointer());
        words.putLong(48, context.queueHandle(owner));
        words.putLong(56, unlink ? 1 : 0);
        return words.addressOffset();
    }

    private MatchEntry entry(
            String call,
            Object object,
            long made,
            Criteria c,
            MemoryDescriptorContext context,
            boolean unlink) {
        Reference.reachabilityFence(context); // its segments, until C has copied them
        if (owner.isTraced()) {
            String bits = "bits=0x" + Long.toHexString(c.matchBits);
            owner.trace(call, bits + " " + context.text(unlink), made);
        }
        if (made == -PortalsCode.MD_NO_UPDATE) {
            return null;
        }
        if (made < 0) {
            throw PortalsNative.failure(call, made, object);
        }
        MatchEntry entry =
                new MatchEntry(
                        owner,
                        (int) made,
                        c.portalIndex,
                        c.nid,
                        c.pid,
                        c.matchBits,
                        c.ignoreBits,
                        c.unlink);
        return entry.with(new MemoryDescriptor(owner, (int) words.getLong(0), context, entry));
    }
}
