package dev.verbena.ofi.transport;

import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.ReadyList;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** What one transport consists of, below its connections. */
final class Parts {
    final OfiResources resources;
    final EventRing ring;
    final ReadyList ready;
    final Peers peers;
    final Outbox outbox;
    final Slots slots;
    final Controls controls;
    final WorkPool works;
    final Engine engine;
    final Regions regions;
    final Heartbeats heartbeats;

    Parts(TransportContext context, OfiResources resources, OwnerGuard guard) {
        this.resources = resources;
        ring = new EventRing(context.outstandingMax(), context.connectionsMax());
        ready = new ReadyList(context.connectionsMax());
        peers = new Peers(resources);
        outbox = new Outbox(resources, peers);
        slots = new Slots(resources);
        controls = new Controls(resources, job(context.job()), context.peerTimeoutNs());
        works = new WorkPool(resources, context.outstandingMax());
        engine = new Engine(resources, ring, works, outbox, slots, controls);
        regions = new Regions(guard, resources, ring);
        heartbeats = new Heartbeats(resources, context.name(), context.peerTimeoutNs());
    }

    private static long job(String job) {
        CRC32C hash = new CRC32C();
        hash.update(job.getBytes(StandardCharsets.UTF_8));
        return hash.getValue();
    }
}
