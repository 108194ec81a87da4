package dev.verbena.dart.client;

import java.util.UUID;

/**
 * Which server serves a process, and as which client.
 *
 * @param clientId given by the master; 0: none yet
 * @param serverId 0 is the master; -1: none yet
 */
record ServedBy(UUID job, int clientId, int serverId, long connection) {
    static final ServedBy NOBODY = new ServedBy(null, 0, -1, 0);

    @Override
    public String toString() {
        return "server " + serverId;
    }
}
