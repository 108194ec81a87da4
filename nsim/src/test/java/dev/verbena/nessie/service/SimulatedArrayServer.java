package dev.verbena.nessie.service;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.nsim.world.Host;
import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.util.List;

/** What an {@link ArrayServer} has on its thread, in virtual time. World's thread. */
final class SimulatedArrayServer implements ProtocolAgent {
    private static final long PEER_TIMEOUT_NS = 50_000_000;

    private final SimulatedProcess process;
    private final ArrayServer.Part part;
    private RpcEndpoint endpoint;
    private String url;

    /** Starts on a host, with the files that are there. */
    SimulatedArrayServer(Host host, ArrayServerOptions options) {
        process = host.start("array-server");
        part = new ArrayServer.Part(process, "arrays", options);
        process.run(List.of(this));
    }

    static RpcEndpoint endpoint(SimulatedProcess process) {
        return RpcEndpoint.over(transport(process), process.errorHandler());
    }

    static Transport transport(SimulatedProcess process) {
        TransportContext context = new TransportContext().peerTimeoutNs(PEER_TIMEOUT_NS);
        return process.openTransport(World.SCHEME, context);
    }

    SimulatedProcess process() {
        return process;
    }

    /** Where clients find it; null: not yet. */
    String url() {
        return url;
    }

    @Override
    public void onStart() {
        endpoint = endpoint(process);
        part.onStart(endpoint.transport());
        RpcServer server = endpoint.serve(ArrayServer.OPTIONS);
        for (int code = ArrayConstants.PUT; code <= ArrayConstants.OPEN; code++) {
            server.register(code, ArrayRequest::new, part::onCall);
        }
        url = endpoint.transport().url();
    }

    @Override
    public int doWork() {
        return endpoint.doWork() + part.doWork();
    }

    @Override
    public long nextDeadlineNs() {
        return RpcEndpoint.earlier(endpoint.nextDeadlineNs(), part.nextDeadlineNs());
    }

    @Override
    public void onClose() {
        part.onClose();
        endpoint.close();
    }

    @Override
    public String roleName() {
        return "array-server";
    }
}
