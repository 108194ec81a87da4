package dev.verbena.verbs;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * The part of a connection identifier that finds a way: options, addresses here and at the peer,
 * and the device that leads there. All under the channel's lock, by any thread.
 */
abstract class ConnectionAddress extends VerbsObject {
    private final ConnectionChannel channel;
    private final PortSpace space;

    ConnectionAddress(ConnectionChannel channel, long address, PortSpace space) {
        super(
                "connection identifier " + Long.toHexString(address >>> 4 & 0xffffff),
                address,
                DestroyCall.CONNECTION_IDENTIFIER,
                List.of(channel));
        this.channel = channel;
        this.space = space;
    }

    /** What it is for. */
    public final PortSpace space() {
        return space;
    }

    /** The channel that its events arrive at. */
    public final ConnectionChannel channel() {
        return channel;
    }

    /** Sets the type of service of its packets, 0 to 255; before the route is resolved. */
    public final void typeOfService(int value) {
        option(
                VerbsLayout.RDMA_OPTION_ID_TOS,
                PathContext.checked("type of service", value, 0, 255));
    }

    /** Lets it bind to a port that others have bound; before binding. */
    public final void reuseAddress(boolean isReused) {
        option(VerbsLayout.RDMA_OPTION_ID_REUSEADDR, isReused ? 1 : 0);
    }

    /** Keeps a listener at an IPv6 address from hearing IPv4, too; before binding. */
    public final void ipv6Only(boolean isOnly) {
        option(VerbsLayout.RDMA_OPTION_ID_AFONLY, isOnly ? 1 : 0);
    }

    /**
     * Sets after what time the peer's kernel takes a packet for lost, if {@link
     * ConnectionContext#timeoutCode} does not say so: 4.096 us times 2 to the code, 0 to 31; before
     * connecting.
     */
    public final void acknowledgeTimeoutCode(int code) {
        option(
                VerbsLayout.RDMA_OPTION_ID_ACK_TIMEOUT,
                PathContext.checked("acknowledge timeout code", code, 0, 31));
    }

    private void option(int option, int value) {
        synchronized (lock()) {
            int result = verbscalls.vv_cm_set_option(address(), option, value);
            check("rdma_set_option", result, "options are set before the call that they are for");
        }
    }

    /**
     * Takes an address and port here; port 0 for any free one. A device's address binds to that
     * device, the wildcard to none.
     *
     * @throws VerbsException if the port is taken, or no device has the address
     */
    public final void bind(InetSocketAddress local) {
        synchronized (lock()) {
            long at = SocketAddresses.write(channel.memory().argument(), local);
            check(
                    "rdma_bind_addr",
                    verbscalls.vv_cm_bind(address(), at),
                    local + " must be an address of an RDMA device, its port free");
        }
    }

    /** Begins to look for the device that leads to a peer; ends with {@code ADDRESS_RESOLVED}. */
    public final void resolveAddress(InetSocketAddress target, long timeoutNs) {
        resolveAddress(null, target, timeoutNs);
    }

    /**
     * Begins to look for the way to a peer from an address here.
     *
     * @param source of the device that is to be used; null for whichever leads there
     * @throws VerbsException if it cannot begin
     */
    public final void resolveAddress(
            InetSocketAddress source, InetSocketAddress target, long timeoutNs) {
        synchronized (lock()) {
            long from = SocketAddresses.writeIfAny(channel.memory().argument(), source);
            long to = SocketAddresses.write(channel.memory().second(), target);
            check(
                    "rdma_resolve_addr",
                    verbscalls.vv_cm_resolve_addr(address(), from, to, Deadlines.toMs(timeoutNs)),
                    "towards " + target + (source == null ? "" : " from " + source));
        }
    }

    /**
     * Begins to look for the route; ends with {@code ROUTE_RESOLVED}.
     *
     * @throws IllegalStateException before the address is resolved
     * @throws VerbsException if it cannot begin
     */
    public final void resolveRoute(long timeoutNs) {
        synchronized (lock()) {
            checkHasDevice(); // librdmacm follows the pointer without a look
            check(
                    "rdma_resolve_route",
                    verbscalls.vv_cm_resolve_route(address(), Deadlines.toMs(timeoutNs)),
                    "the address is resolved first");
        }
    }

    /** True once it belongs to a device. */
    public final boolean hasDevice() {
        synchronized (lock()) {
            return verbs() != 0;
        }
    }

    private long verbs() {
        return CallMemory.getLong(address() + VerbsLayout.RDMA_CM_ID_VERBS);
    }

    /**
     * Before what librdmacm does by way of the device, or of what comes with one. Under the lock.
     */
    final void checkHasDevice() {
        if (verbs() == 0) {
            throw new IllegalStateException(
                    this + " has no device yet; resolve an address, or bind to a device's");
        }
    }

    /**
     * The device that it belongs to, for {@link RdmaDevices#open}.
     *
     * @throws IllegalStateException before the address is resolved or bound
     */
    public final String deviceName() {
        synchronized (lock()) {
            checkHasDevice();
            long device = CallMemory.getLong(verbs() + VerbsLayout.CONTEXT_DEVICE);
            return CallMemory.text(
                    device + VerbsLayout.DEVICE_NAME, VerbsLayout.IBV_SYSFS_NAME_MAX);
        }
    }

    /** Opens the device that it belongs to; the caller closes it. */
    public final RdmaDevice openDevice() {
        return RdmaDevices.open(deviceName());
    }

    /** The device's port, from 1; 0 before there is one. */
    public final int port() {
        synchronized (lock()) {
            return CallMemory.getByte(address() + VerbsLayout.RDMA_CM_ID_PORT_NUM);
        }
    }

    /** Address and port here; null before there are any. */
    public final InetSocketAddress localAddress() {
        return socketAddress(VerbsLayout.RDMA_ADDR_SRC_ADDR);
    }

    /** Address and port of the peer; null before there are any. */
    public final InetSocketAddress peerAddress() {
        return socketAddress(VerbsLayout.RDMA_ADDR_DST_ADDR);
    }

    private InetSocketAddress socketAddress(int offset) {
        synchronized (lock()) {
            return SocketAddresses.read(
                    address()
                            + VerbsLayout.RDMA_CM_ID_ROUTE
                            + VerbsLayout.RDMA_ROUTE_ADDR
                            + offset);
        }
    }
}
