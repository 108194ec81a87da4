package dev.verbena.nsim.world;

import static dev.verbena.nsim.world.SimulatedEvent.MESSAGE;
import static dev.verbena.nsim.world.SimulatedEvent.NOTIFY;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.core.Ranges;
import org.agrona.concurrent.UnsafeBuffer;

/** What an operation does at its target when its bytes are there. */
final class Placement {

    private final World world;

    Placement(World world) {
        this.world = world;
    }

    void place(Work work, Connection target) {
        switch (work.kind) {
            case Operation.SEND -> message(work, target);
            case Operation.FETCH_ADD, Operation.COMPARE_SWAP -> atomic(work);
            default -> move(work, target);
        }
        if (work.status != Status.OK) {
            world.trace(
                    Operation.name(work.kind) + " " + Status.name(work.status),
                    work.from + " > " + work.to);
        }
    }

    private static void message(Work work, Connection target) {
        SimulatedEvent message = target.owner.event(MESSAGE, target);
        message.message(work);
        target.owner.deliver(message);
    }

    /** What the target says to a range of the descriptor. */
    private static int check(Work work, SimulatedRegion region, long offset, long length) {
        boolean isOther =
                work.keyHigh != work.to.incarnation || work.remoteKind != RemoteDescriptor.KIND_SIM;
        if (region == null || isOther) {
            return Status.STALE_KEY;
        }
        int right = Ranges.right(work.kind);
        if ((work.rights & right) == 0 || (region.rights() & right) == 0) {
            return Status.ACCESS;
        }
        boolean isInside =
                Ranges.isInside(offset, length, work.length)
                        && Ranges.isInside(work.base, work.length, region.length());
        return isInside ? Status.OK : Status.BOUNDS;
    }

    private void move(Work work, Connection target) {
        SimulatedRegion region = work.to.regions.get(work.keyLow);
        int worst = check(work, region, 0, 0);
        // All of it or nothing: a short part alone would touch a page for no use.
        boolean isCopied = work.bytes() <= world.copiedMax;
        for (int i = 0; i < work.segments; i++) {
            long length = work.lengths[i];
            int status = check(work, region, work.remoteOffsets[i], length);
            worst = Math.max(worst, status);
            if (status == Status.OK) {
                work.addMoved(length);
                if (isCopied) {
                    copy(work, i, region, (int) (work.base + work.remoteOffsets[i]));
                }
            }
        }
        work.status(worst);
        if (worst == Status.OK && work.kind == Operation.PUT_NOTIFY) {
            SimulatedEvent event = target.owner.event(NOTIFY, target);
            event.notify(work.tag, region.id(), work.base + work.remoteOffsets[0], work.lengths[0]);
            target.owner.deliver(event);
        }
    }

    private static void copy(Work work, int segment, SimulatedRegion region, int at) {
        int length = (int) work.lengths[segment];
        UnsafeBuffer local = work.locals[segment].bytes;
        int offset = (int) work.offsets[segment];
        if (work.kind == Operation.GET) {
            local.putBytes(offset, region.bytes, at, length);
        } else {
            region.bytes.putBytes(at, local, offset, length);
        }
    }

    private static void atomic(Work work) {
        SimulatedRegion region = work.to.regions.get(work.keyLow);
        long offset = work.remoteOffsets[0];
        work.status(check(work, region, offset, Long.BYTES));
        if (work.status != Status.OK) {
            return;
        }
        int at = (int) (work.base + offset);
        long before = region.bytes.getLong(at);
        if (work.kind == Operation.FETCH_ADD) {
            region.bytes.putLong(at, before + work.first);
        } else if (before == work.first) {
            region.bytes.putLong(at, work.second);
        }
        work.result(before);
    }
}
