package dev.verbena.nsim.world;

import org.agrona.collections.Long2LongHashMap;

/** Which links between hosts are cut or slow, each direction for itself. */
final class LinkFaults {
    private static final long NONE = -1;

    private final Long2LongHashMap cutSince = new Long2LongHashMap(NONE);
    private final Long2LongHashMap slow = new Long2LongHashMap(NONE);

    private static long key(Host from, Host to) {
        return (long) from.index() << 32 | to.index();
    }

    void cut(Host from, Host to, long nowPs) {
        cutSince.putIfAbsent(key(from, to), nowPs);
    }

    void heal(Host from, Host to) {
        cutSince.remove(key(from, to));
    }

    boolean isCut(Host from, Host to) {
        return !cutSince.isEmpty() && cutSince.containsKey(key(from, to));
    }

    /** Whether either direction has been cut since then at least. */
    boolean isCutSince(Host a, Host b, long timePs) {
        long there = cutSince.get(key(a, b));
        long back = cutSince.get(key(b, a));
        return there != NONE && there <= timePs || back != NONE && back <= timePs;
    }

    void slow(Host from, Host to, long psPerByte) {
        slow.put(key(from, to), psPerByte);
    }

    void healAll() {
        cutSince.clear();
        slow.clear();
    }

    /** The delay of a number of bytes, picoseconds. */
    long delayPs(Host from, Host to, long bytes) {
        if (slow.isEmpty()) {
            return 0;
        }
        long psPerByte = slow.get(key(from, to));
        return psPerByte == NONE ? 0 : psPerByte * (bytes + 64);
    }
}
