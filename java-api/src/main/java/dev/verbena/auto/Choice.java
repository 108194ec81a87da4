package dev.verbena.auto;

import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * Which part a peer is reached by, and why.
 *
 * @param schemes of the parts that are open, in order
 * @param missing scheme of each part that is not open, and why
 * @param mark see {@link HostMark}; empty: no {@code shm} here
 * @param job of this transport
 */
record Choice(List<String> schemes, Map<String, String> missing, String mark, String job) {
    static final String SHM = "shm";

    /** No part: RDMA NICs are used through libfabric. */
    static final String VERBS = "verbs";

    static final String OFI = "ofi";

    /**
     * The part for this peer.
     *
     * @throws IllegalArgumentException if the two have none in common; says what each has
     */
    int of(AutoAddress peer) {
        for (int part = 0; part < schemes.size(); part++) {
            String scheme = schemes.get(part);
            boolean isWanted = peer.use().isEmpty() || peer.use().equals(scheme);
            if (isWanted && isPossible(scheme, peer)) {
                return part;
            }
        }
        throw new IllegalArgumentException(
                "no way to "
                        + peer.uri()
                        + ": here is "
                        + schemes
                        + (missing.isEmpty() ? "" : ", not " + missing)
                        + "; there is "
                        + (peer.mark().isEmpty() ? "" : "shm of host mark " + peer.mark() + ", ")
                        + (peer.ofi().isEmpty() ? "no ofi" : "ofi"));
    }

    private boolean isPossible(String scheme, AutoAddress peer) {
        return scheme.equals(SHM) ? isSameHost(peer) : !peer.ofi().isEmpty();
    }

    private boolean isSameHost(AutoAddress peer) {
        return !mark.isEmpty() && mark.equals(peer.mark());
    }

    String scheme(int part) {
        return schemes.get(part);
    }

    /** The peer's address for this part. */
    URI uri(int part, AutoAddress peer) {
        return scheme(part).equals(SHM) ? peer.shmUri(job) : peer.ofiUri();
    }

    /** Whether nothing that is missing or not used would be faster, as far as is known here. */
    boolean isFastest(int part, AutoAddress peer) {
        return slower(part, peer).isEmpty();
    }

    /** What was chosen, and what would have been faster. */
    String why(int part, AutoAddress peer) {
        String scheme = schemes.get(part);
        String reason =
                peer.use().equals(scheme)
                        ? "the address asks for it"
                        : isSameHost(peer) ? "the same shared memory" : "other shared memory";
        String slower = slower(part, peer);
        return scheme + ", " + reason + (slower.isEmpty() ? "" : "; faster would be " + slower);
    }

    private String slower(int part, AutoAddress peer) {
        if (scheme(part).equals(SHM)) {
            return "";
        }
        if (isSameHost(peer)) {
            return SHM;
        }
        return missing.containsKey(VERBS)
                ? VERBS + ", which is not here: " + missing.get(VERBS)
                : "";
    }

    /** Of the whole, for people. */
    String explain() {
        StringBuilder text = new StringBuilder();
        text.append("A peer is reached by the first of ")
                .append(String.join(", ", schemes))
                .append(" that both have; shm where it has host mark ")
                .append(mark.isEmpty() ? "(none)" : mark)
                .append(", which is a number in the shared memory.");
        missing.forEach(
                (scheme, cause) ->
                        text.append(" Without ")
                                .append(scheme)
                                .append(": ")
                                .append(cause)
                                .append('.'));
        return text.toString();
    }
}
