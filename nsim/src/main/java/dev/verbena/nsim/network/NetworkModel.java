package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.topology.Topology;

/** A level of detail at which messages travel. Each belongs to the thread of its engine. */
public interface NetworkModel {
    /** Kinds of events from this number on are free for others. */
    int KINDS_FREE = EventKinds.FREE;

    /**
     * A network at rest, of the level that the context asks for.
     *
     * @param engine with {@link #entities} entities, not used by another network
     */
    static NetworkModel of(Engine engine, Topology topology, NetworkContext context) {
        return context.level() == Level.MESSAGE
                ? new MessageNetwork(engine, topology, context)
                : new PacketNetwork(engine, topology, context);
    }

    /** How many entities an engine needs: nodes, then routers. */
    static int entities(Topology topology) {
        return Math.addExact(topology.nodes(), topology.routers());
    }

    /** What a kind of event is called, those of programs ({@link #KINDS_FREE}) too. */
    static String kindName(int kind) {
        return EventKinds.name(kind);
    }

    /** The messages. */
    MessageTable messages();

    /**
     * Starts a message whose row is filled in; its source's memory is read from {@code now} on. The
     * row belongs to the model until the message's completion.
     */
    void submit(int message);

    /** Sets who learns what becomes of messages. */
    void handler(MessageHandler handler);

    /** Packets that are in a network interface, router or cable; 0 if there are no packets. */
    int packetsInFlight();

    /** What went over each cable. */
    LinkStatistics links();

    /** Queues and use over time; null if they are not recorded, or the level has none. */
    default LinkDetails details() {
        return null;
    }
}
