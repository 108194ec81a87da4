package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** {@code struct sockaddr_in} and {@code sockaddr_in6}, written and read in native memory. */
final class SocketAddresses {
    private static final int IPV4_LENGTH = 4;
    private static final int IPV6_LENGTH = 16;

    private SocketAddresses() {}

    /** Writes one, or nothing for null. Answers where it is; 0 for null. */
    static long writeIfAny(long at, InetSocketAddress address) {
        return address == null ? 0 : write(at, address);
    }

    /** Writes one. Answers where it is. */
    static long write(long at, InetSocketAddress address) {
        if (address == null) {
            throw new IllegalArgumentException("an address is needed");
        }
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException(
                    "the name %s has no address; is it spelled right?"
                            .formatted(address.getHostString()));
        }
        boolean isIpv6 = host instanceof Inet6Address;
        CallMemory.putShort(
                at + VerbsLayout.SOCKADDR_IN_SIN_FAMILY,
                isIpv6 ? VerbsLayout.AF_INET6 : VerbsLayout.AF_INET);
        long port =
                at
                        + (isIpv6
                                ? VerbsLayout.SOCKADDR_IN6_SIN6_PORT
                                : VerbsLayout.SOCKADDR_IN_SIN_PORT);
        CallMemory.putByte(port, address.getPort() >>> 8);
        CallMemory.putByte(port + 1, address.getPort());
        CallMemory.putBytes(
                at
                        + (isIpv6
                                ? VerbsLayout.SOCKADDR_IN6_SIN6_ADDR
                                : VerbsLayout.SOCKADDR_IN_SIN_ADDR),
                host.getAddress());
        if (host instanceof Inet6Address ipv6) {
            CallMemory.putInt(at + VerbsLayout.SOCKADDR_IN6_SIN6_SCOPE_ID, ipv6.getScopeId());
        }
        return at;
    }

    /** Reads one; null if there is none. */
    static InetSocketAddress read(long at) {
        int family = CallMemory.getShort(at + VerbsLayout.SOCKADDR_IN_SIN_FAMILY);
        try {
            if (family == VerbsLayout.AF_INET) {
                byte[] host =
                        CallMemory.getBytes(at + VerbsLayout.SOCKADDR_IN_SIN_ADDR, IPV4_LENGTH);
                return new InetSocketAddress(
                        InetAddress.getByAddress(host),
                        port(at + VerbsLayout.SOCKADDR_IN_SIN_PORT));
            }
            if (family == VerbsLayout.AF_INET6) {
                byte[] host =
                        CallMemory.getBytes(at + VerbsLayout.SOCKADDR_IN6_SIN6_ADDR, IPV6_LENGTH);
                int scope = CallMemory.getInt(at + VerbsLayout.SOCKADDR_IN6_SIN6_SCOPE_ID);
                InetAddress address =
                        scope == 0
                                ? InetAddress.getByAddress(host)
                                : Inet6Address.getByAddress(null, host, scope);
                return new InetSocketAddress(
                        address, port(at + VerbsLayout.SOCKADDR_IN6_SIN6_PORT));
            }
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // only for another length
        }
        return null;
    }

    private static int port(long at) {
        return CallMemory.getByte(at) << 8 | CallMemory.getByte(at + 1);
    }
}
