package dev.verbena.nsim.world;

import static dev.verbena.nsim.world.SimulatedEvent.COMPLETION;
import static dev.verbena.nsim.world.SimulatedEvent.CONNECTED;
import static dev.verbena.nsim.world.SimulatedEvent.DISCONNECTED;
import static dev.verbena.nsim.world.SimulatedEvent.LOST;
import static dev.verbena.nsim.world.SimulatedEvent.REQUEST;

import dev.verbena.nsim.network.MessageHandler;
import dev.verbena.nsim.network.MessageTable;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import java.util.ArrayList;
import java.util.List;

/** What happens to operations on their way, at their target, and when a connection is lost. */
final class Deliveries implements MessageHandler {
    /** Kinds of events that this schedules. */
    static final int KINDS = 2;

    private static final int CONTROL_BYTES = 64;

    private final World world;
    private final Placement placement;
    private final int arriveKind;
    private final int creditKind;

    /** What a partition holds back, in the order of its arrival. */
    private List<Work> held = new ArrayList<>();

    Deliveries(World world, int firstKind) {
        this.world = world;
        this.placement = new Placement(world);
        arriveKind = firstKind;
        creditKind = firstKind + 1;
        world.engine.handler(arriveKind, (time, target, number) -> late((int) number));
        world.engine.handler(
                creditKind, (time, target, number) -> credit(world.works.get((int) number)));
    }

    /** A slot comes back to its sender after a while. */
    void creditAfter(Work work) {
        scheduleAfter(world.creditPs, creditKind, work);
    }

    private void scheduleAfter(long picoseconds, int kind, Work work) {
        int target = work.to.process.host.index();
        long atPs = world.engine.nowPs() + picoseconds;
        world.engine.schedule(atPs, target, target, kind, work.number);
    }

    /** Puts it on the network when its process has come to it. */
    void startAfter(long picoseconds, Work work) {
        if (picoseconds == 0) {
            start(work);
            return;
        }
        work.connection.started();
        work.hold();
        int node = work.from.process.host.index();
        world.afterPs(
                picoseconds,
                node,
                () -> {
                    work.unhold();
                    if (work.isDone) {
                        freeIfUnused(work);
                    } else {
                        submit(work);
                    }
                });
    }

    /** Puts it on the network. */
    void start(Work work) {
        if (!work.isControl()) {
            work.connection.started();
        }
        submit(work);
    }

    private void submit(Work work) {
        work.enterNetwork();
        MessageTable messages = world.network.messages();
        int from = work.from.process.host.index();
        int to = work.to.process.host.index();
        boolean isGet = work.kind == Operation.GET;
        long bytes = work.bytes() + (work.isControl() ? CONTROL_BYTES : 0);
        int row = messages.add(isGet ? MessageTable.GET : MessageTable.PUT, from, to, bytes);
        messages.payload(row, work);
        world.network.submit(row);
    }

    @Override
    public void onData(long timePs, int message) {
        Work work = (Work) world.network.messages().payload(message);
        if (work == null) {
            return; // Of others; see WorldNoise.
        }
        long late = slowPs(work);
        if (world.lateOneIn > 0 && world.random.nextInt(world.lateOneIn) == 0) {
            late += world.latePs;
        }
        if (late > 0) {
            work.hold();
            scheduleAfter(late, arriveKind, work);
        } else {
            arrive(work);
        }
    }

    /** The bytes of a get come from its target; what goes there is a request. */
    private long slowPs(Work work) {
        Host from = work.from.process.host;
        Host to = work.to.process.host;
        LinkFaults faults = world.linkFaults;
        return work.kind == Operation.GET
                ? faults.delayPs(to, from, work.bytes()) + faults.delayPs(from, to, 0)
                : faults.delayPs(from, to, work.bytes());
    }

    private void late(int number) {
        Work work = world.works.get(number);
        work.unhold();
        arrive(work);
    }

    @Override
    public void onComplete(long timePs, int message) {
        Work work = (Work) world.network.messages().payload(message);
        if (work == null) {
            return; // Of others; see WorldNoise.
        }
        work.leaveNetwork();
        if (work.isDone || !work.isPlaced) {
            freeIfUnused(work);
        } else {
            complete(work);
        }
    }

    private void freeIfUnused(Work work) {
        if (work.takeForReuse()) {
            world.free(work);
        }
    }

    private boolean isCutOff(Work work) {
        Host from = work.from.process.host;
        Host to = work.to.process.host;
        return world.linkFaults.isCut(from, to)
                || work.kind == Operation.GET && world.linkFaults.isCut(to, from);
    }

    private void hold(Work work) {
        work.hold();
        held.add(work);
    }

    /** A partition has ended, perhaps. */
    void release() {
        List<Work> all = held;
        held = new ArrayList<>();
        for (Work work : all) {
            work.unhold();
            if (work.isDone) {
                freeIfUnused(work);
            } else if (work.isPlaced) {
                complete(work);
            } else {
                arrive(work);
            }
        }
    }

    private void arrive(Work work) {
        if (work.isDone) {
            freeIfUnused(work);
        } else if (isCutOff(work)) {
            hold(work);
        } else if (work.sequence == Work.UNSEQUENCED) {
            deliver(work);
        } else {
            inOrder(work);
        }
    }

    private void inOrder(Work work) {
        Connection target = work.isControl() ? work.other : work.connection.peer;
        if (target.isGone) {
            missed(work);
            return;
        }
        if (work.sequence != target.receiveNext) {
            work.hold();
            target.early.add(work);
            return;
        }
        Work next = work;
        while (next != null) {
            target.received();
            deliver(next);
            next = nextEarly(target);
        }
    }

    private static Work nextEarly(Connection target) {
        for (int i = 0; i < target.early.size(); i++) {
            Work work = target.early.get(i);
            if (work.sequence == target.receiveNext) {
                target.early.remove(i);
                work.unhold();
                return work;
            }
        }
        return null;
    }

    /** The connection that it is for has gone at the other end. */
    private void missed(Work work) {
        if (work.kind == Work.ACCEPT && work.to.isAlive()) {
            Work close = world.work(Work.CLOSE, work.to, work.from);
            close.about(work.connection, work.to.uri + " waits no longer");
            start(close);
        }
        if (work.isControl()) {
            work.finish();
            freeIfUnused(work);
        }
    }

    private void deliver(Work work) {
        if (work.isControl()) {
            if (work.to.isAlive()) {
                control(work);
            }
            work.finish();
            freeIfUnused(work);
            return;
        }
        Connection target = work.connection.peer;
        if (!target.isOpen || !work.to.isAlive()) {
            return; // The initiator will notice.
        }
        placement.place(work, target);
        work.place();
        work.connection.placed();
        startWaiting(work.connection);
        if (!work.isInNetwork) {
            complete(work);
        }
    }

    private void startWaiting(Connection connection) {
        while (!connection.waiting.isEmpty()) {
            Work work = connection.waiting.peek();
            if (work.isFenced && connection.unplaced > 0) {
                return;
            }
            start(connection.waiting.poll());
        }
    }

    private void complete(Work work) {
        if (world.linkFaults.isCut(work.to.process.host, work.from.process.host)) {
            hold(work);
            return;
        }
        Connection connection = work.connection;
        finish(work, work.status, work.value);
        connection.owner.endIfIdle(connection);
    }

    private void finish(Work work, int status, long value) {
        SimulatedTransport owner = work.from;
        work.finish();
        work.connection.remove(work);
        SimulatedEvent event = owner.event(COMPLETION, work.connection);
        event.complete(work, status, value);
        owner.deliver(event);
        freeIfUnused(work);
    }

    private void control(Work work) {
        Connection other = work.other;
        switch (work.kind) {
            case Work.CONNECT -> connect(work);
            case Work.ACCEPT -> {
                other.accepted();
                other.owner.deliver(other.owner.event(CONNECTED, other));
            }
            case Work.DISCONNECT -> {
                flush(other);
                other.owner.deliver(other.owner.event(DISCONNECTED, other));
                other.owner.forget(other);
            }
            default -> {
                if (!other.isGone) {
                    boolean isDeaf = work.status == Status.NOT_LISTENING;
                    end(other, isDeaf ? Status.NOT_LISTENING : Status.REFUSED, work.text);
                }
            }
        }
    }

    private void connect(Work work) {
        Connection mine = work.other;
        SimulatedTransport target = work.to;
        if (mine.isGone) {
            return;
        }
        String why = "";
        int status = Status.REFUSED;
        if (work.uri.getQuery() != null && !target.uri.equals(work.uri)) {
            why = "another incarnation than " + work.uri;
        } else if (!target.isListening) {
            why = work.uri + " does not listen";
            status = Status.NOT_LISTENING;
        } else if (target.connections.size() >= target.limits.connectionsMax()) {
            why = work.uri + " has no connection left";
        }
        if (!why.isEmpty()) {
            Work reject = world.work(Work.REJECT, target, mine.owner);
            reject.about(mine, why);
            reject.status(status);
            start(reject);
            return;
        }
        Connection theirs = target.begin(0);
        theirs.offer();
        theirs.pair(mine, target.grant());
        mine.pair(theirs, mine.owner.grant());
        watchIfCut(theirs);
        watchIfCut(mine);
        SimulatedEvent request = target.event(REQUEST, theirs);
        request.request(mine.owner.uri, work);
        target.deliver(request);
    }

    /** A connection ends at this end, whatever it was. */
    private void end(Connection connection, int status, String why) {
        SimulatedTransport owner = connection.owner;
        if (connection.isPending) {
            owner.fail(connection, status, why);
        } else if (connection.isOffered) {
            owner.forget(connection);
        } else {
            flush(connection);
            SimulatedEvent event = owner.event(LOST, connection);
            event.fail(status, why);
            owner.deliver(event);
            owner.forget(connection);
        }
    }

    private void lose(Connection connection, String why) {
        if (connection.isGone || !connection.owner.isAlive()) {
            return;
        }
        world.trace("lost", connection.owner);
        Connection other = connection.peer;
        end(connection, Status.REFUSED, why);
        if (other != null && !other.isGone) {
            loseLater(other, why);
        }
    }

    /** Within twice its patience an end notices that the other is gone. */
    void loseLater(Connection connection, String why) {
        long timeoutPs = World.ps(connection.owner.peerTimeoutNs);
        long delay = timeoutPs / 50 + world.random.nextLong(timeoutPs / 2 * 3);
        world.afterPs(delay, connection.owner.process.host.index(), () -> lose(connection, why));
    }

    /** Completes everything that an end has posted, without success. */
    void flush(Connection connection) {
        connection.stop();
        while (connection.first != null) {
            Work work = connection.first;
            if (connection.owner.isAlive()) {
                finish(work, work.isStarted ? Status.PEER_DEAD : Status.FLUSHED, 0);
            } else {
                work.finish();
                connection.remove(work);
                freeIfUnused(work);
            }
        }
        drop(connection);
    }

    /** Forgets what came early. */
    void drop(Connection connection) {
        for (Work work : connection.early) {
            work.unhold();
            if (work.isControl()) {
                work.finish();
            }
            freeIfUnused(work);
        }
        connection.early.clear();
    }

    void credit(Work work) {
        Connection sender = work.other;
        if (!sender.isGone) {
            sender.returnSlot();
            world.wake(sender.owner.process);
        }
        world.free(work);
    }

    /** Connections across a cut are lost if it lasts. */
    void watchCut(Host a, Host b) {
        for (SimulatedTransport transport : List.copyOf(world.transports.values())) {
            if (transport.process.host == a || transport.process.host == b) {
                Host other = transport.process.host == a ? b : a;
                for (Connection connection : transport.connections) {
                    if (connection.peer != null && connection.peer.owner.process.host == other) {
                        watch(connection, a, b);
                    }
                }
            }
        }
    }

    /** What is made while the way back is cut is lost as what was there before. */
    private void watchIfCut(Connection connection) {
        Host a = connection.owner.process.host;
        Host b = connection.peer.owner.process.host;
        if (world.linkFaults.isCut(a, b) || world.linkFaults.isCut(b, a)) {
            watch(connection, a, b);
        }
    }

    private void watch(Connection connection, Host a, Host b) {
        long timeoutPs = World.ps(connection.owner.peerTimeoutNs);
        long sincePs = world.engine.nowPs();
        world.afterPs(
                timeoutPs + world.random.nextLong(timeoutPs / 5 * 4),
                connection.owner.process.host.index(),
                () -> {
                    if (world.linkFaults.isCutSince(a, b, sincePs)) {
                        lose(connection, connection.peer.owner.uri + " cannot be reached");
                    }
                });
    }

    /** Who is frozen for long is lost. */
    void watchFreeze(Host host) {
        for (SimulatedProcess process : host.processes) {
            for (SimulatedTransport transport : process.transports) {
                for (Connection connection : transport.connections) {
                    if (connection.peer != null && connection.peer.owner.process.host != host) {
                        watchFrozen(host, connection.peer);
                    }
                }
            }
        }
    }

    private void watchFrozen(Host host, Connection watcher) {
        long timeoutPs = World.ps(watcher.owner.peerTimeoutNs);
        world.afterPs(
                timeoutPs + world.random.nextLong(timeoutPs / 5 * 4),
                watcher.owner.process.host.index(),
                () -> {
                    if (host.frozenUntilPs > world.engine.nowPs()) {
                        lose(watcher, watcher.peer.owner.uri + " is frozen");
                    }
                });
    }
}
