package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Which process is served by which server: ids are given out in order of registration, servers in
 * turn. A process that registers again keeps its id, and its server while that lives. One thread.
 */
final class Assignments {
    /** Id of a process and its server. */
    record Assignment(int clientId, int serverId) {}

    private final Long2ObjectHashMap<Assignment> byProcess = new Long2ObjectHashMap<>();
    private final IntArrayList servers = new IntArrayList();
    private int next;
    private int lastClientId;

    void addServer(int serverId) {
        servers.addInt(serverId);
    }

    void removeServer(int serverId) {
        int at = servers.indexOf(serverId);
        if (at >= 0) {
            servers.removeAt(at);
            if (next > at) {
                next--;
            }
        }
    }

    int serverCount() {
        return servers.size();
    }

    Assignment assign(int applicationId, int rank) {
        long process = (long) applicationId << 32 | rank;
        Assignment known = byProcess.get(process);
        if (known != null && servers.containsInt(known.serverId)) {
            return known;
        }
        if (servers.isEmpty()) {
            throw new IllegalStateException("no server");
        }
        int server = servers.getInt(next % servers.size());
        if (!(PlantedFaults.ENABLED && PlantedFaults.isOn("dart-always-first-server"))) {
            next = (next + 1) % servers.size();
        }
        int id = known == null ? ++lastClientId : known.clientId;
        Assignment made = new Assignment(id, server);
        byProcess.put(process, made);
        return made;
    }
}
