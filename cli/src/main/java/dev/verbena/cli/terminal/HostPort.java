package dev.verbena.cli.terminal;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code HOST:PORT} of the command line.
 *
 * @param host without the brackets of an IPv6 address
 * @param port 0 to 65535; 0: any
 */
public record HostPort(String host, int port) {
    /** The highest there is. */
    public static final int PORT_MAX = 65_535;

    private static final String LOOPBACK = "127.0.0.1";

    /**
     * Reads it.
     *
     * @throws IllegalArgumentException if it is something else
     */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|]$", "");
        int port = -1;
        try {
            port = Integer.parseInt(text.substring(colon + 1));
        } catch (NumberFormatException e) {
            // reported below, as a port out of range is
        }
        if (host.isEmpty() || port < 0 || port > PORT_MAX) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not HOST:PORT with a port from 0 to 65535");
        }
        return new HostPort(host, port);
    }

    /**
     * The address of the host.
     *
     * @throws UnknownHostException naming a host that no name service knows
     */
    public InetSocketAddress resolve() throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    /** For picocli; a port alone is one of this machine's loopback address. */
    public static final class LoopbackConverter implements ITypeConverter<HostPort> {
        @Override
        public HostPort convert(String value) {
            boolean isPort = value.matches("[0-9]{1,5}");
            return new Converter().convert(isPort ? LOOPBACK + ":" + value : value);
        }
    }

    /** For picocli. */
    public static final class Converter implements ITypeConverter<HostPort> {
        @Override
        public HostPort convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
