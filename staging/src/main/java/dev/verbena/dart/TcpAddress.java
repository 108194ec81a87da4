package dev.verbena.dart;

import java.net.URI;

/** Addresses of receivers: which of them mean TCP. */
final class TcpAddress {
    private static final String SCHEME = "tcp";

    private TcpAddress() {}

    /**
     * Whether it is {@code tcp://host:port}.
     *
     * @throws IllegalArgumentException for an address without a scheme, or TCP without host and
     *     port
     */
    static boolean isTcp(URI address) {
        if (address.getScheme() == null) {
            throw new IllegalArgumentException(
                    "'" + address + "' has no scheme, such as tcp:// or shm://");
        }
        boolean isTcp = address.getScheme().equals(SCHEME);
        if (isTcp && (address.getHost() == null || address.getPort() < 0)) {
            throw new IllegalArgumentException("'" + address + "' is not tcp://host:port");
        }
        return isTcp;
    }

    static URI of(String host, int port) {
        return URI.create(
                SCHEME + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port);
    }
}
