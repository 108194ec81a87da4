package dev.verbena.cli.status;

/** The newest sample, for any number of readers. Thread-safe. */
final class WatchFeed {
    private String newest = "";
    private long number;
    private boolean isClosed;

    /** Replaces the sample; a reader that was slow misses those between. */
    synchronized void publish(String sample) {
        newest = sample;
        number++;
        notifyAll();
    }

    /** Readers end. */
    synchronized void close() {
        isClosed = true;
        notifyAll();
    }

    /**
     * Waits for a sample that the reader has not seen, and hands it over.
     *
     * @param seen number of the sample that the reader got last, 0 if none
     * @return null when there will be no more
     */
    synchronized Sample await(long seen) throws InterruptedException {
        while (number == seen && !isClosed) {
            wait();
        }
        return isClosed ? null : new Sample(number, newest);
    }

    /** A sample as JSON text, and its number, from 1. */
    record Sample(long number, String json) {}
}
