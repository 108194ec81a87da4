package dev.verbena.nsim.dart;

import dev.verbena.agent.StagingEvents;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.ServerStatistics;
import dev.verbena.dart.TicketState;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.TraceHandler;
import dev.verbena.nsim.world.World;
import dev.verbena.transport.TransportException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * A small service with random schedules, late arrivals and faults, and what must hold all the same:
 * what is handed over is whole, right, in order and not doubled; what is confirmed was handed over;
 * a server's buffers are always all there; no part fails by an error of its own; and when the
 * faults have stopped, every process ends.
 */
final class DartCase {
    private static final long SKEW_NS = 1_000_000_000L;
    private static final int DRIFT_PPM = 100;
    private static final long JITTER_NS = 20_000;
    private static final int LATE_ONE_IN = 100;
    private static final long LATE_NS = 500_000;
    private static final long PATIENCE_NS = 200_000_000_000L;
    private static final long TIMEOUT_NS = 1_000_000_000L;
    private static final long RETURN_NS = 50_000_000L;

    private final DartShape shape;
    private final List<Fault> faults;
    private final World world;
    private final DartCluster cluster;
    private final List<SimulatedProcess> started = new ArrayList<>();
    private boolean isStopping;

    DartCase(long seed, DartShape shape, List<Fault> faults, TraceHandler trace) {
        this.shape = shape;
        this.faults = faults;
        int hosts = shape.servers() + shape.nodes() + 1;
        NetworkContext network = new NetworkContext().payload(4096).isLoopback(true);
        world = new World(seed, TreeTopology.single(hosts), network);
        world.randomSchedule(JITTER_NS)
                .delays(LATE_ONE_IN, LATE_NS)
                .disks(100_000)
                .streams(20_000, 1_000_000_000L)
                .trace(trace)
                .invariants(this::check);
        cluster = new DartCluster(world);
        if (shape.isClockWrong()) {
            SplittableRandom random = new SplittableRandom(seed + 1);
            setClockWrong(DartCluster.receiver(0), random);
            for (int i = 0; i < shape.servers(); i++) {
                setClockWrong(DartCluster.server(i), random);
            }
            for (int i = 0; i < shape.nodes(); i++) {
                setClockWrong(DartCluster.node(i), random);
            }
        }
    }

    private void setClockWrong(String host, SplittableRandom random) {
        long skewNs = random.nextLong(2 * SKEW_NS) - SKEW_NS;
        world.host(host).clock(skewNs, random.nextInt(2 * DRIFT_PPM) - DRIFT_PPM);
    }

    DartOutcome run() {
        String failure;
        try (world) {
            receive();
            for (int i = 0; i < shape.servers(); i++) {
                serve(i);
            }
            for (int i = 0; i < shape.nodes(); i++) {
                compute(i, 0);
            }
            for (Fault fault : faults) {
                world.after(fault.atNs(), () -> begin(fault));
            }
            world.after(Fault.STOP_NS, this::stopFaults);
            failure = live();
            long failed =
                    cluster.computes.stream()
                            .flatMap(compute -> compute.tickets.stream())
                            .filter(ticket -> ticket.state() == TicketState.FAILED)
                            .count();
            return new DartOutcome(
                    failure, world.traceHash(), world.nowNs(), cluster.deliveredCount(), failed);
        }
    }

    private String live() {
        try {
            // By index: while one says goodbye another may be started anew.
            for (int i = 0; i < cluster.computes.size(); i++) {
                if (!world.runUntil(cluster::isComputingDone, PATIENCE_NS)) {
                    return "no end: " + unfinished();
                }
                cluster.computes.get(i).close();
            }
            world.runUntil(() -> world.nowNs() > Fault.STOP_NS + 2 * SKEW_NS, 2 * Fault.STOP_NS);
            isStopping = true;
            cluster.stop();
            if (!world.runUntil(cluster::isStopped, PATIENCE_NS)) {
                return "servers do not end: " + servers();
            }
            check();
            return judge();
        } catch (IllegalStateException e) {
            return e.getMessage();
        }
    }

    private String unfinished() {
        return cluster.computes.stream()
                .filter(ComputeProcess::isUnfinished)
                .map(ComputeProcess::toString)
                .collect(Collectors.joining("; "));
    }

    private String servers() {
        return cluster.servers.stream()
                .filter(server -> !server.process().isDead())
                .map(s -> s.process() + " " + s.server().statistics() + " " + s.process().errors())
                .collect(Collectors.joining("; "));
    }

    private void receive() {
        DeliveryCheck delivered = new DeliveryCheck(shape.length(), true, !shape.isReassigned());
        started.add(
                cluster.receive(
                                0,
                                delivered,
                                context -> {
                                    context.acceptGaps(true);
                                    if (shape.isDurable()) {
                                        // One more file would change every seed's schedule.
                                        context.directory("data")
                                                .describe(false)
                                                .ack(AckMode.DURABLE);
                                    }
                                })
                        .process());
    }

    private void serve(int index) {
        started.add(
                cluster.serve(
                                index,
                                0,
                                StagingEvents.NONE,
                                context ->
                                        context.serverCount(shape.servers())
                                                .clientsMax(8)
                                                .creditsPerClient(shape.credits())
                                                .bufferSize(shape.bufferSize())
                                                .framePayloadMax(64 << 10)
                                                .bufferCount(shape.buffers())
                                                .peerTimeoutNs(TIMEOUT_NS))
                        .process());
    }

    private void compute(int rank, int first) {
        started.add(
                cluster.compute(
                                new ComputeProcess.Plan(
                                        rank,
                                        first,
                                        shape.messages(),
                                        shape.length(),
                                        shape.computeNs(),
                                        shape.inFlight()),
                                true,
                                context ->
                                        context.peerTimeoutNs(TIMEOUT_NS)
                                                .reassign(shape.isReassigned()))
                        .process);
    }

    private SimulatedProcess processOn(String host) {
        return started.stream()
                .filter(process -> process.host().name().equals(host))
                .reduce(null, (before, last) -> last);
    }

    private void begin(Fault fault) {
        Host host = world.host(fault.host());
        Host other = world.host(fault.other());
        SimulatedProcess process = processOn(fault.host());
        switch (fault.kind()) {
            case KILL, CRASH -> kill(fault, host, process);
            case FREEZE -> world.freeze(host, fault.forNs());
            case CUT, CUT_ONE_WAY -> {
                if (host != other) {
                    boolean isBoth = fault.kind() == Fault.Kind.CUT;
                    world.cut(host, other);
                    world.after(fault.forNs(), () -> world.heal(host, other));
                    if (isBoth) {
                        world.cut(other, host);
                        world.after(fault.forNs(), () -> world.heal(other, host));
                    }
                }
            }
            case SLOW -> world.slow(host, other, fault.amount() * 1000L);
            case REFUSE -> {
                world.refuse(process, 1 + fault.amount() % 5);
                world.after(fault.forNs(), () -> world.refuse(process, 0));
            }
            case FAIL_REGISTRATION -> {
                world.failRegistrations(process, 2);
                world.after(fault.forNs(), () -> world.failRegistrations(process, 0));
            }
            case CLOCK -> host.clock((fault.amount() - 100) * SKEW_NS / 100, fault.amount() % 100);
            case DELAYS -> world.delays(1 + fault.amount() % 10, fault.amount() * 100_000L);
            default -> {
                world.disk(fault.host(), "data").capacity(fault.amount() * 50L);
                world.after(
                        fault.forNs(),
                        () -> world.disk(fault.host(), "data").capacity(Long.MAX_VALUE));
            }
        }
    }

    /** The receiver always comes back; processes and servers do every other time. */
    private void kill(Fault fault, Host host, SimulatedProcess process) {
        if (fault.kind() == Fault.Kind.CRASH) {
            world.crash(host);
        } else {
            process.kill();
        }
        world.after(fault.forNs() + RETURN_NS, () -> comeBack(fault));
    }

    private void comeBack(Fault fault) {
        String name = fault.host();
        Host host = world.host(name);
        if (isStopping || !processOn(name).isDead()) {
            return;
        }
        boolean isReceiver = name.equals(DartCluster.receiver(0));
        if (!isReceiver && fault.amount() % 2 == 0) {
            return;
        }
        world.restart(host);
        int index = Integer.parseInt(name.replaceAll("\\D", ""));
        if (isReceiver) {
            receive();
        } else if (name.startsWith("server")) {
            serve(index);
        } else {
            long before = cluster.computes.stream().filter(c -> c.plan.rank() == index).count();
            compute(index, (int) before * shape.messages());
        }
    }

    private void stopFaults() {
        world.healAll();
        world.delays(0, 0);
        for (SimulatedProcess process : started) {
            world.refuse(process, 0);
            world.failRegistrations(process, 0);
        }
        world.disk(DartCluster.receiver(0), "data").capacity(Long.MAX_VALUE);
        if (processOn(DartCluster.receiver(0)).isDead() && !isStopping) {
            world.restart(world.host(DartCluster.receiver(0)));
            receive();
        }
    }

    /** After each step. */
    private void check() {
        for (DartCluster.Server server : cluster.servers) {
            if (!server.process().isDead()) {
                ServerStatistics s = server.server().statistics();
                int sum = s.emptyCount() + s.pendingCount() + s.fullCount() + s.streamingCount();
                require(
                        sum <= shape.buffers() && s.parkedHeaderCount() >= 0,
                        server.process() + " has " + sum + " buffers of " + shape.buffers());
            }
        }
        for (DartCluster.Receiver receiver : cluster.receivers) {
            require(receiver.delivered().wrong.isEmpty(), receiver.delivered().wrong);
        }
    }

    private static void require(boolean isGood, String what) {
        if (!isGood) {
            throw new IllegalStateException(what);
        }
    }

    /** When all is over. */
    private String judge() {
        for (SimulatedProcess process : started) {
            for (Throwable error : process.errors()) {
                boolean isExpected =
                        error instanceof DartException
                                || error instanceof TransportException
                                || error instanceof UncheckedIOException;
                if (!isExpected) {
                    StackTraceElement[] stack = error.getStackTrace();
                    return process + ": " + error + (stack.length == 0 ? "" : " at " + stack[0]);
                }
            }
        }
        for (ComputeProcess compute : cluster.computes) {
            if (!faults.isEmpty() || compute.failure.isEmpty()) {
                String wrong = judge(compute);
                if (!wrong.isEmpty()) {
                    return wrong;
                }
            } else {
                return compute + ", without any fault";
            }
        }
        return "";
    }

    private String judge(ComputeProcess compute) {
        for (int i = 0; i < compute.tickets.size(); i++) {
            DartTicket ticket = compute.tickets.get(i);
            boolean isHere =
                    cluster.receivers.stream().anyMatch(r -> r.delivered().has(ticket.tag()));
            if (ticket.state() == TicketState.STREAMED && !isHere) {
                return compute.roleName() + ": confirmed and never handed over: " + ticket;
            }
            if (faults.isEmpty() && ticket.state() != TicketState.STREAMED) {
                return compute.roleName() + ": not confirmed, without any fault: " + ticket;
            }
        }
        return "";
    }
}
