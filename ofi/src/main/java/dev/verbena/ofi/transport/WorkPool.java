package dev.verbena.ofi.transport;

/**
 * Operations: as many as may be outstanding, and as many again that the provider still holds after
 * their peer was lost. One thread.
 */
final class WorkPool {
    private final Work[] all;
    private final Work[] free;
    private final int outstandingMax;
    private int freeCount;
    private int outstanding;

    WorkPool(OfiResources resources, int outstandingMax) {
        this.outstandingMax = outstandingMax;
        all = new Work[resources.workCount];
        free = new Work[all.length];
        for (int i = all.length - 1; i >= 0; i--) {
            all[i] = new Work(this, resources.workContext(i), resources.workView(i));
            free[freeCount++] = all[i];
        }
    }

    /**
     * No operation can be accepted.
     *
     * @param others operations without one whose end the user was not told of
     */
    boolean isEmpty(int others) {
        return freeCount == 0 || outstanding + others >= outstandingMax;
    }

    Work take() {
        outstanding++;
        return free[--freeCount];
    }

    Work at(int index) {
        return all[index];
    }

    int size() {
        return all.length;
    }

    /** The user was told of the end of one. */
    void delivered() {
        outstanding--;
    }

    /** Nobody holds anything of it. */
    void recycle(Work work) {
        free[freeCount++] = work;
    }
}
