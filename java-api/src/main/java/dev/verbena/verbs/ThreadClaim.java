package dev.verbena.verbs;

import dev.verbena.verbs.internal.OwnershipTransfer;
import java.util.List;

/**
 * Keeps a queue to one thread: the first that uses it. So posting, polling and closing cannot
 * happen at once, and a closed queue's memory is never touched.
 *
 * <p>The field is read without a barrier: a thread finds itself there only if it put itself there,
 * and it takes itself out before another may come in.
 */
final class ThreadClaim {
    static {
        OwnershipTransfer.install(
                queue -> {
                    if (queue instanceof Requests requests) {
                        requests.claim().takeOver();
                    } else if (queue instanceof VerbsObject object && object.claim() != null) {
                        object.claim().takeOver();
                    }
                });
    }

    private final String what;
    private final boolean isShared;
    private Thread owner;
    private boolean isClosed;

    ThreadClaim(String what) {
        this(what, false);
    }

    /**
     * @param isShared by several queues, which all have one thread
     */
    ThreadClaim(String what, boolean isShared) {
        this.what = what;
        this.isShared = isShared;
    }

    /** True if several queues have it. */
    boolean isShared() {
        return isShared;
    }

    /**
     * Runs it while all of these are this thread's, and gives them back as they were.
     *
     * @throws IllegalStateException naming one that a living thread uses; it is not run then
     */
    static void holding(List<ThreadClaim> claims, Runnable action) {
        Thread[] before = new Thread[claims.size()];
        int held = 0;
        try {
            for (ThreadClaim claim : claims) {
                before[held] = claim.claimToClose();
                held++;
            }
            action.run();
        } finally {
            for (int i = held - 1; i >= 0; i--) {
                claims.get(i).giveBack(before[i]);
            }
        }
    }

    /** The calling thread uses the queue, from now on alone. */
    void check() {
        if (Thread.currentThread() != owner) {
            claim();
        }
    }

    /** As {@link #check}; false if another living thread uses it. Hot paths. */
    boolean tryCheck() {
        return Thread.currentThread() == owner || tryClaim();
    }

    private synchronized boolean tryClaim() {
        if (owner != null && owner.isAlive()) {
            return false;
        }
        owner = Thread.currentThread();
        return true;
    }

    /** True if this thread, which calls, has it; and so, that it is open. */
    boolean isOf(Thread caller) {
        return caller == owner;
    }

    /** Nobody may use it any more. By who claimed it to close it. */
    synchronized void close() {
        owner = null;
        isClosed = true;
    }

    /** The owner lets another thread have it. */
    synchronized void handOver() {
        checkMayClose();
        owner = null;
    }

    /**
     * The calling thread has it alone, in order to close it: nobody begins to use it meanwhile.
     *
     * @return who had it, for {@link #giveBack} if it stays open
     */
    synchronized Thread claimToClose() {
        checkMayClose();
        Thread before = owner;
        owner = Thread.currentThread();
        return before;
    }

    /** The calling thread has it, by its word that the one before is outside and stays there. */
    synchronized void takeOver() {
        if (!isClosed) {
            owner = Thread.currentThread();
        }
    }

    /** It stays open, or is closed, which the next thread will see. */
    synchronized void giveBack(Thread before) {
        owner = before;
    }

    /** Throws if another living thread uses it. */
    private void checkMayClose() {
        if (owner != null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalStateException(
                    ("%s is used by thread '%s'; close it there, or call handOver()"
                                    + " there first")
                            .formatted(what, owner.getName()));
        }
    }

    private synchronized void claim() {
        checkMayClose();
        if (isClosed) {
            throw new IllegalStateException("closed: " + what);
        }
        owner = Thread.currentThread();
    }
}
