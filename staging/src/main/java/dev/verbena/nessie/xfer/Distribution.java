package dev.verbena.nessie.xfer;

import dev.verbena.staging.Arguments;

/** Which server a client uses (specification, section 3.3). */
public enum Distribution {
    /** Contiguous clients share a server; the first servers have one client more. */
    BLOCK,
    /** Clients take the servers in turn. */
    ROUND_ROBIN;

    /**
     * Index of the server of a client.
     *
     * @param client from 0 to {@code clients - 1}
     * @throws IllegalArgumentException if there is no such client, or no server
     */
    public int serverOf(int client, int clients, int servers) {
        Arguments.range("client", client, 0, clients - 1);
        Arguments.range("servers", servers, 1, Integer.MAX_VALUE);
        if (this == ROUND_ROBIN) {
            return client % servers;
        }
        int each = clients / servers;
        int larger = clients % servers;
        int inLarger = larger * (each + 1);
        return client < inLarger ? client / (each + 1) : larger + (client - inLarger) / each;
    }
}
