package dev.verbena.nsim.dart;

import dev.verbena.agent.StagingEvents;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Servers, receivers and compute processes of one service, each on a host of its own: {@code
 * server0} is the master, {@code receiver0} and {@code node0} are the first of the others.
 */
final class DartCluster {
    static final String FILE = "shared/dart.conf";
    static final String MASTER = "dart-master";
    static final String SLAVE = "dart-slave";
    static final String RECEIVER = "dart-receiver";
    static final String COMPUTE = "compute";
    private static final int PORT = 7000;

    /** A server with the process that runs it. */
    record Server(SimulatedProcess process, DartServer server) {}

    /** A receiver with the process that runs it. */
    record Receiver(SimulatedProcess process, DartReceiver receiver, DeliveryCheck delivered) {}

    final World world;
    final List<Server> servers = new ArrayList<>();
    final List<Receiver> receivers = new ArrayList<>();
    final List<ComputeProcess> computes = new ArrayList<>();

    private int readyCount;
    private int stoppedCount;

    DartCluster(World world) {
        this.world = world;
    }

    static String server(int index) {
        return "server" + index;
    }

    static String receiver(int index) {
        return "receiver" + index;
    }

    static String node(int index) {
        return "node" + index;
    }

    Receiver receive(int index, DeliveryCheck delivered, Consumer<DartReceiver.Context> change) {
        SimulatedProcess process = world.host(receiver(index)).start(RECEIVER);
        DartReceiver.Context context =
                new DartReceiver.Context()
                        .environment(process)
                        .listen("0.0.0.0", PORT)
                        .connectionsMax(1024)
                        .unfinishedBytesMax(1L << 30)
                        .handler(delivered);
        change.accept(context);
        DartReceiver receiver = DartReceiver.embed(context);
        process.run(List.of(receiver.agent()));
        Receiver made = new Receiver(process, receiver, delivered);
        receivers.add(made);
        return made;
    }

    Server serve(
            int index, int receiver, StagingEvents events, Consumer<DartServer.Context> change) {
        Host host = world.host(server(index));
        SimulatedProcess process = host.start(index == 0 ? MASTER : SLAVE).events(events);
        DartServer.Context context =
                new DartServer.Context()
                        .environment(process)
                        .configurationFile(FILE)
                        .receiver(receiver(receiver), PORT);
        if (index == 0) {
            context.master().transport(World.SCHEME);
        } else {
            context.slave();
        }
        change.accept(context);
        DartServer server = DartServer.embed(context);
        process.run(server.agents());
        Server made = new Server(process, server);
        servers.add(made);
        return made;
    }

    ComputeProcess compute(
            ComputeProcess.Plan plan, boolean isFilled, Consumer<DartClient.Context> change) {
        SimulatedProcess process = world.host(node(plan.rank())).start(COMPUTE);
        DartClient.Context context = new DartClient.Context().configurationFile(FILE);
        change.accept(context);
        ComputeProcess made = new ComputeProcess(process, context, plan, isFilled);
        computes.add(made);
        return made;
    }

    /** Whether all servers have been ready; each is asked until it is, and not again. */
    boolean isReady() {
        while (readyCount < servers.size() && servers.get(readyCount).server.isReady()) {
            readyCount++;
        }
        return readyCount == servers.size();
    }

    boolean isComputingDone() {
        return computes.stream().noneMatch(ComputeProcess::isUnfinished);
    }

    /** Messages that receivers have handed over. */
    long deliveredCount() {
        return receivers.stream().mapToLong(receiver -> receiver.delivered().messages).sum();
    }

    /** Asks all servers that live to stop in order. */
    void stop() {
        for (Server server : servers) {
            if (!server.process.isDead()) {
                server.server.requestStop();
                server.process.wakeup();
            }
        }
    }

    /** Whether all servers have stopped, or are dead. */
    boolean isStopped() {
        while (stoppedCount < servers.size() && isStopped(servers.get(stoppedCount))) {
            stoppedCount++;
        }
        return stoppedCount == servers.size();
    }

    private static boolean isStopped(Server server) {
        return server.process.isDead() || server.server.awaitStopped(0);
    }
}
