package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.agrona.concurrent.UnsafeBuffer;

/** One end of a connection that rdma_cm makes, on the real device, and what it needs. */
final class RealConnection implements AutoCloseable {
    static final int LENGTH = 1 << 16;
    static final long PATIENCE_NS = 50_000_000_000L;

    final ConnectionIdentifier identifier;
    final RdmaDevice device;
    final ProtectionDomain domain;
    final OffHeapMemory memory = OffHeapMemories.allocate(LENGTH);
    final MemoryRegion region;
    final UnsafeBuffer bytes;
    final CompletionChannel channel;
    final CompletionQueue completions;
    final QueuePair queue;
    final SendRequests sends;
    final ReceiveRequests receives;

    /** The identifier, which belongs to a device already, and which it closes. */
    RealConnection(ConnectionIdentifier identifier) {
        this.identifier = identifier;
        device = identifier.openDevice();
        domain = device.allocateProtectionDomain();
        region = domain.register(memory, Access.REMOTE_ALL);
        bytes = region.buffer(0, LENGTH);
        channel = device.createCompletionChannel();
        completions = device.createCompletionQueue(32, channel, 0);
        queue =
                domain.createQueuePair(
                        new QueuePairContext()
                                .type(
                                        identifier.space().isDatagram()
                                                ? QueuePairType.UD
                                                : QueuePairType.RC)
                                .completions(completions)
                                .sendCapacity(8)
                                .receiveCapacity(8));
        sends = queue.newSends(4);
        receives = queue.newReceives(4);
    }

    /** An address of the real device, of RoCE v2; IPv6 ones with their scope. */
    static InetSocketAddress localAddress(boolean isIpv6, int port) throws UnknownHostException {
        try (RdmaDevice device = RealDevice.open()) {
            for (GidEntry entry : device.gids(1)) {
                byte[] gid = entry.gid().bytes();
                if (entry.gid().isIpv4() && !isIpv6) {
                    byte[] ipv4 = {gid[12], gid[13], gid[14], gid[15]};
                    return new InetSocketAddress(InetAddress.getByAddress(ipv4), port);
                }
                if (!entry.gid().isIpv4() && isIpv6) {
                    int scope = entry.gid().isLinkLocal() ? entry.interfaceIndex() : 0;
                    return new InetSocketAddress(Inet6Address.getByAddress(null, gid, scope), port);
                }
            }
        }
        throw new AssertionError("the device has no address of that family");
    }

    /** Any device, any port. */
    static InetSocketAddress anyAddress() {
        return new InetSocketAddress("0.0.0.0", 0);
    }

    /** Connects two ends by a listener; answers the connecting and the accepting one. */
    static RealConnection[] connect(
            ConnectionIdentifier listener,
            ConnectionIdentifier client,
            ConnectionContext clients,
            ConnectionContext servers) {
        client.resolve(listener.localAddress(), PATIENCE_NS);
        RealConnection from = new RealConnection(client);
        client.connect(from.queue, clients);
        ConnectionEvent request = listener.awaitRequest(PATIENCE_NS);
        RealConnection to = new RealConnection(request.identifier());
        to.identifier.prepare(to.queue, servers);
        to.identifier.accept(to.queue, servers);
        client.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
        if (!client.space().isDatagram()) {
            to.identifier.await(ConnectionEventType.ESTABLISHED, PATIENCE_NS);
        }
        return new RealConnection[] {from, to};
    }

    /** The next completion; sleeps on the channel. */
    CompletionFlyweight next() {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (completions.poll(1) == 0) {
            completions.requestNotification(false);
            if (completions.poll(1) == 1) {
                break;
            }
            if (deadlineNs - System.nanoTime() < 0) {
                throw new AssertionError("no completion in 50 s");
            }
            channel.await(1_000_000_000L);
        }
        return completions.completion(0);
    }

    /** Posts one signalled send and waits for its completion. */
    CompletionFlyweight run(SendRequestFlyweight request) {
        int taken = queue.post(request.signalled(true));
        if (taken != 1) {
            throw new AssertionError("post answers " + taken);
        }
        return next();
    }

    @Override
    public void close() {
        sends.close();
        receives.close();
        queue.close();
        completions.close();
        channel.close();
        region.close();
        domain.close();
        device.close();
        memory.close();
        identifier.close();
    }
}
