package dev.verbena.transport;

import java.net.URI;

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

    /**
     * Sets what a transport must be opened with to have an address, or to reach a peer there.
     * Unless a provider says otherwise the form is {@code scheme://job/name}, and only the job
     * matters to who reaches a peer.
     *
     * @param address of this scheme
     * @param isOwn whether it is to be the transport's own; a name may be missing then
     * @throws IllegalArgumentException naming the form, if the address does not fit it
     */
    default void address(URI address, boolean isOwn, TransportContext context) {
        String path = address.getPath() == null ? "" : address.getPath();
        String query = address.getQuery();
        boolean isMistyped = isOwn && query != null && !query.matches("incarnation=[0-9a-f]+");
        if (address.getAuthority() == null || !isOwn && path.length() < 2 || isMistyped) {
            throw new IllegalArgumentException(
                    "'%s' is not of the form %s://job/name".formatted(address, scheme()));
        }
        context.job(address.getAuthority());
        if (isOwn && path.length() > 1) {
            context.name(path.substring(1));
        }
    }
}
