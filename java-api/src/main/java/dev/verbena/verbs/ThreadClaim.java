package dev.verbena.verbs;

import dev.verbena.verbs.internal.Takeover;

/**
 * Keeps a queue to one thread: the first that uses it. So posting, polling and closing cannot
 * happen at once, and a closed queue's memory is never touched.
 *
 * <p>The field is read without a barrier: a thread finds itself there only if it put itself there,
 * and it takes itself out before another may come in.
 */
final class ThreadClaim {
    static {
        Takeover.install(
                queue -> {
                    if (queue instanceof Requests requests) {
                        requests.claim().takeOver();
                    } else if (queue instanceof VerbsObject object && object.claim() != null) {
                        object.claim().takeOver();
                    }
                });
    }

    private final String what;
    private Thread owner;

    ThreadClaim(String what) {
        this.what = what;
    }

    /** The calling thread uses the queue, from now on alone. */
    void check() {
        if (Thread.currentThread() != owner) {
            claim();
        }
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
        owner = Thread.currentThread();
    }

    /** It stays open, or is closed, which the next thread will see. */
    synchronized void giveBack(Thread before) {
        owner = before;
    }

    /** Throws if another living thread uses it. */
    private void checkMayClose() {
        if (owner != null && owner != Thread.currentThread() && owner.isAlive()) {
            throw new IllegalStateException(
                    what
                            + " is used by thread '"
                            + owner.getName()
                            + "'; close it there, or call handOver() there first");
        }
    }

    private synchronized void claim() {
        checkMayClose();
        owner = Thread.currentThread();
    }
}
