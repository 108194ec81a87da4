package dev.verbena.dart;

import dev.verbena.agent.AgentStepper;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A service of which every part is stepped by hand on the test's thread, so that a test can stop
 * one part and look at the others.
 */
final class SteppedWorld implements AutoCloseable {
    final DartWorld world;
    final ProbeEnvironment serverProbe;
    final ProbeEnvironment clientProbe;
    final List<DartClient> clients = new ArrayList<>();
    DartServer server;
    DartReceiver receiver;
    private AgentStepper serverStepper;
    private AgentStepper receiverStepper;
    boolean isServerStopped;
    boolean isReceiverStopped;

    SteppedWorld(String scheme) {
        world = new DartWorld(scheme);
        serverProbe = new ProbeEnvironment(world.environment);
        clientProbe = new ProbeEnvironment(world.environment);
    }

    SteppedWorld start(java.util.function.Consumer<DartServer.Context> change) {
        receiver = DartReceiver.embed(world.receiverContext());
        world.receiverPort = receiver.port();
        receiverStepper =
                new AgentStepper(List.of(receiver.agent()), null, world.environment.errorHandler());
        DartServer.Context context = world.serverContext().environment(serverProbe);
        change.accept(context);
        server = DartServer.embed(context);
        serverStepper = new AgentStepper(server.agents(), null, world.environment.errorHandler());
        until("server ready", server::isReady);
        return this;
    }

    DartClient client(int rank, java.util.function.Consumer<DartClient.Context> change) {
        DartClient.Context context = world.clientContext(rank).environment(clientProbe);
        change.accept(context);
        DartClient client = DartClient.start(context);
        clients.add(client);
        until("client connected", client::isConnected);
        return client;
    }

    int step() {
        int work = 0;
        if (!isServerStopped) {
            work += serverStepper.step();
        }
        if (!isReceiverStopped) {
            work += receiverStepper.step();
        }
        for (DartClient client : clients) {
            work += client.progress();
        }
        return work;
    }

    /** The server's agents are closed without any farewell. */
    void killServer() {
        serverStepper.close();
        isServerStopped = true;
    }

    void until(String what, BooleanSupplier condition) {
        dev.verbena.agent.Await.until(
                () -> what + "; " + server.statistics() + world.errors, this::step, condition);
    }

    /** Steps until nothing has happened for a while. */
    void settle() {
        for (int idle = 0; idle < 2000; ) {
            idle = step() == 0 ? idle + 1 : 0;
        }
    }

    @Override
    public void close() throws Exception {
        isReceiverStopped = false;
        try {
            isServerStopped = isServerStopped && clients.isEmpty();
            for (DartClient client : clients) {
                if (client.isConnected()) {
                    until("all confirmed", () -> client.unconfirmed().isEmpty());
                }
                client.close(0);
            }
        } finally {
            if (serverStepper != null) {
                serverStepper.close();
            }
            if (receiverStepper != null) {
                receiverStepper.close();
            }
            world.close();
        }
    }
}
