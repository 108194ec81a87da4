package dev.verbena.savime.server;

import dev.verbena.savime.wire.DatasetState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.Long2ObjectHashMap;

/** Sessions and datasets that there are, the names that are taken, and how datasets ended. */
final class Registry {
    private static final int ENDED_MAX = 4096;

    private final Long2ObjectHashMap<Session> sessions = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Dataset> datasets = new Long2ObjectHashMap<>();
    private final Map<String, Dataset> names = new HashMap<>();
    private final Map<Long, DatasetState> ended = new LinkedHashMap<>();
    private final long sessionBase;
    private long lastId;
    private long lastSession;

    /**
     * Of none yet.
     *
     * @param base numbers of sessions and datasets are greater, and greater than those of earlier
     *     servers: who asks for what one of these had is not told of another
     */
    Registry(long base) {
        sessionBase = base;
        lastId = base;
    }

    /** The session of this client, made if there is none. */
    Session session(long clientId) {
        Session session = sessions.get(clientId);
        if (session == null) {
            session = new Session(sessionBase + ++lastSession, clientId);
            sessions.put(clientId, session);
        }
        return session;
    }

    boolean hasSession(long clientId) {
        return sessions.containsKey(clientId);
    }

    int sessionCount() {
        return sessions.size();
    }

    void forgetIfOver(Session session) {
        if (session.isOver()) {
            sessions.remove(session.clientId);
        }
    }

    long nextId() {
        return ++lastId;
    }

    void add(Dataset dataset) {
        datasets.put(dataset.id(), dataset);
        names.put(dataset.name(), dataset);
        lastId = Math.max(lastId, dataset.id());
        dataset.session.count(1);
    }

    /** A name that is being given to a dataset whose file is not made yet. */
    void take(String name) {
        names.put(name, null);
    }

    /**
     * A name that was taken is free again.
     *
     * @param back has it again, if it is still there; null: nobody had it
     */
    void give(String name, Dataset back) {
        if (isThere(back)) {
            names.put(name, back);
        } else {
            names.remove(name);
        }
    }

    /** Whether it is not removed yet; null is not there. */
    boolean isThere(Dataset dataset) {
        return dataset != null && datasets.get(dataset.id()) == dataset;
    }

    boolean isTaken(String name) {
        return names.containsKey(name);
    }

    /** Null: no dataset has it now. */
    Dataset named(String name) {
        return names.get(name);
    }

    /** Null: none. */
    Dataset dataset(long id) {
        return datasets.get(id);
    }

    /** The dataset of this number, if this connection sends it. */
    Dataset receiving(Connection by, long id) {
        Dataset dataset = dataset(id);
        boolean isOwn =
                dataset != null
                        && dataset.state == DatasetState.RECEIVING
                        && dataset.connection == by;
        return isOwn ? dataset : null;
    }

    /** The text of a command of this client, all of it here; null: there is none. */
    Dataset text(Session of, long id) {
        Dataset dataset = dataset(id);
        boolean isText =
                dataset != null
                        && dataset.session == of
                        && dataset.state == DatasetState.RECEIVED
                        && dataset.meta.type().equals(Openings.COMMAND);
        return isText ? dataset : null;
    }

    int datasetCount() {
        return datasets.size();
    }

    /** Those that there are now, whatever becomes of them meanwhile. */
    List<Dataset> all() {
        return new ArrayList<>(datasets.values());
    }

    /** It is no more; how it ended is remembered for a while. */
    void remove(Dataset dataset, DatasetState how) {
        datasets.remove(dataset.id());
        names.remove(dataset.name(), dataset);
        remember(dataset.id(), how);
        dataset.session.count(-1);
        forgetIfOver(dataset.session);
    }

    private void remember(long id, DatasetState how) {
        ended.put(id, how);
        if (ended.size() > ENDED_MAX) {
            Iterator<Long> oldest = ended.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** How a dataset ended that is no more; null: unknown. */
    DatasetState ended(long id) {
        return ended.get(id);
    }
}
