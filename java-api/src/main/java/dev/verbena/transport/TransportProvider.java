package dev.verbena.transport;

/** Found with {@link java.util.ServiceLoader}. Nothing here throws from a static initialiser. */
public interface TransportProvider {
    /** URI scheme: {@code shm}, {@code portals}, {@code gni}, {@code verbs}, {@code sim}. */
    String scheme();

    /** Whether {@link #open} can work on this machine. */
    default boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** Why not, and what to do about it; null if available. */
    String unavailabilityCause();

    /**
     * Opens a transport.
     *
     * @param context concluded by the provider
     * @throws TransportException naming what is missing
     */
    Transport open(TransportContext context);
}
