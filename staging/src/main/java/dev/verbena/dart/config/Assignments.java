package dev.verbena.dart.config;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Which process is served by which server. Ids are given out in order of registration, dense within
 * each application; servers in turn. A process that registers again keeps its id, and its server
 * while that lives and the process does not ask for another. One thread.
 */
public final class Assignments {
    /** Id of a process and its server. */
    public record Assignment(int clientId, int serverId) {}

    private final Long2ObjectHashMap<Assignment> byProcess = new Long2ObjectHashMap<>();
    private final Int2IntHashMap idsGiven = new Int2IntHashMap(0);
    private final Int2IntHashMap registrations = new Int2IntHashMap(-1);
    private final IntArrayList servers = new IntArrayList();
    private int next;

    public void addServer(int serverId) {
        servers.addInt(serverId);
    }

    public void removeServer(int serverId) {
        int at = servers.indexOf(serverId);
        if (at >= 0) {
            servers.removeAt(at);
            if (next > at) {
                next--;
            }
        }
    }

    /** Whether this server takes processes. */
    public boolean isThere(int serverId) {
        return servers.containsInt(serverId);
    }

    /** Lowest id that a process of this application can have. */
    public static int minimumId(int applicationId) {
        return applicationId << RegisterFlyweight.APPLICATION_BITS | 1;
    }

    /**
     * The assignment of this process, made if need be.
     *
     * @param isMoving it has lost its server: another one if there is any
     */
    public Assignment assign(int applicationId, int rank, boolean isMoving) {
        long process = (long) applicationId << 32 | rank;
        Assignment known = byProcess.get(process);
        if (known != null && servers.containsInt(known.serverId) && !isMoving) {
            return known;
        }
        if (servers.isEmpty()) {
            throw new IllegalStateException("no server");
        }
        int server = nextServer();
        if (known != null && isMoving && server == known.serverId && servers.size() > 1) {
            server = nextServer();
        }
        int id = known == null ? newId(applicationId) : known.clientId;
        Assignment made = new Assignment(id, server);
        byProcess.put(process, made);
        return made;
    }

    private int nextServer() {
        int server = servers.getInt(next % servers.size());
        next = (next + 1) % servers.size();
        return server;
    }

    private int newId(int applicationId) {
        int given = idsGiven.get(applicationId);
        idsGiven.put(applicationId, given + 1);
        return minimumId(applicationId) + given;
    }

    /** Counts a registration of this client; how many there were before. */
    public int countRegistration(int clientId) {
        int before = registrations.get(clientId) + 1;
        registrations.put(clientId, before);
        return Math.min(before, ControlFlyweight.GENERATION_MAX);
    }
}
