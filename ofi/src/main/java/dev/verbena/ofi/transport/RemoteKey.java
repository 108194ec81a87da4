package dev.verbena.ofi.transport;

import dev.verbena.transport.Status;
import dev.verbena.transport.core.Ranges;

/**
 * What the owner of a region has told of it to one connection. The owner's word counts, not a
 * descriptor's. Others read the fields; the methods write them.
 */
final class RemoteKey {
    final long key;

    /** Key that the provider takes. */
    long providerKey;

    private boolean isKnown;
    private boolean isDead;
    private int postedCount;
    private boolean isAnswerDue;
    private long base;
    private long length;
    private int rights;

    RemoteKey(long key) {
        this.key = key;
    }

    /** The owner's answer; negative rights: there is no such region. */
    void answer(int rights, long base, long length, long providerKey) {
        this.rights = rights;
        this.base = base;
        this.length = length;
        this.providerKey = providerKey;
        isKnown = true;
        isDead = rights < 0;
    }

    /** The region is closed. */
    void revoke() {
        isKnown = true;
        isDead = true;
    }

    /** The provider has an operation with it. */
    void posted() {
        postedCount++;
    }

    /** The provider has ended one. */
    void unposted() {
        postedCount--;
    }

    /** Whether the provider has none: the owner may take the memory away. */
    boolean isQuiet() {
        return postedCount == 0;
    }

    /** The owner is to be answered once it is quiet. */
    void answerLater() {
        isAnswerDue = true;
    }

    /** Whether the owner is to be answered now; once. */
    boolean takeAnswer() {
        boolean isDue = isAnswerDue && isQuiet();
        isAnswerDue &= !isDue;
        return isDue;
    }

    boolean isKnown() {
        return isKnown;
    }

    boolean isDead() {
        return isDead;
    }

    /** Status of an operation at this address. */
    int check(long address, int right, long size) {
        if (isDead) {
            return Status.STALE_KEY;
        }
        if ((rights & right) == 0) {
            return Status.ACCESS;
        }
        long at = address - base;
        return (address ^ base) >= 0 && Ranges.isInside(at, size, length)
                ? Status.OK
                : Status.BOUNDS;
    }

    /** What the provider takes for this address. */
    long remote(long address, boolean isVirtual) {
        return isVirtual ? address : address - base;
    }
}
