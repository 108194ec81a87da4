package dev.verbena.flesnet;

/** Where microslices come from. Called on the input engine's thread; never waits. */
public interface MicrosliceSource {
    /** Nothing more is due: see {@link #nextDueNs}. */
    long NEVER = Long.MAX_VALUE;

    /**
     * Adds what is due by now, not without end.
     *
     * @return microslices added
     */
    int poll(MicrosliceSink sink, long nowNs);

    /** Whether nothing will be added any more. */
    boolean isEnded();

    /** Why nothing more can come, although it is not ended; null if that is not so. */
    default String failure() {
        return null;
    }

    /** When more is due, on the clock of {@link #poll}; {@link #NEVER} if only room matters. */
    long nextDueNs();
}
