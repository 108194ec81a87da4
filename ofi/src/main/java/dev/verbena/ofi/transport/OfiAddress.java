package dev.verbena.ofi.transport;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code ofi://host:port/name?provider=tcp&incarnation=hex}. Of a provider whose
 * endpoints have no socket address the port is 0 and {@code endpoint=hex} is the endpoint's name.
 *
 * @param provider short name, for example {@code tcp}
 * @param endpoint name of the endpoint; empty: host and port say it
 * @param incarnation 0: any
 */
record OfiAddress(
        String host, int port, String name, String provider, byte[] endpoint, long incarnation) {
    static final String FORM = "ofi://host:port/name?provider=name&incarnation=hex";

    private static final Pattern PATTERN =
            Pattern.compile(
                    "ofi://([A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}\\]):([0-9]{1,5})"
                            + "(?:/([A-Za-z0-9._-]{0,63}))?"
                            + "(?:\\?([a-z]+=[A-Za-z0-9_.+-]+(?:&[a-z]+=[A-Za-z0-9_.+-]+)*))?");
    private static final int HEX = 16;
    private static final int PORT_MAX = 65_535;
    private static final int ENDPOINT_MAX = 128;
    private static final int FAMILY_IPV4 = 2;
    private static final int FAMILY_IPV6 = 10;
    private static final int LENGTH_IPV4 = 16;
    private static final int LENGTH_IPV6 = 28;
    private static final int ADDRESS_IPV4 = 4;
    private static final int ADDRESS_IPV6 = 8;

    /**
     * Takes a URI apart.
     *
     * @throws IllegalArgumentException naming the form, or the part that does not fit
     */
    static OfiAddress of(URI uri) {
        Matcher matcher = PATTERN.matcher(uri.toString());
        if (!matcher.matches()) {
            throw malformed(uri, "it");
        }
        int port = Integer.parseInt(matcher.group(2));
        String provider = "";
        byte[] endpoint = {};
        long incarnation = 0;
        String query = matcher.group(4) == null ? "" : matcher.group(4);
        for (String part : query.isEmpty() ? new String[0] : query.split("&")) {
            String value = part.substring(part.indexOf('=') + 1);
            try {
                switch (part.substring(0, part.indexOf('='))) {
                    case "provider" -> provider = value;
                    case "endpoint" -> endpoint = HexFormat.of().parseHex(value);
                    case "incarnation" -> incarnation = Long.parseUnsignedLong(value, HEX);
                    default -> throw malformed(uri, part);
                }
            } catch (IllegalArgumentException e) {
                throw malformed(uri, part);
            }
        }
        boolean isSocket = endpoint.length == 0;
        if (port > PORT_MAX || isSocket && port == 0 || endpoint.length > ENDPOINT_MAX) {
            throw malformed(uri, "port " + port);
        }
        String name = matcher.group(3) == null ? "" : matcher.group(3);
        return new OfiAddress(matcher.group(1), port, name, provider, endpoint, incarnation);
    }

    private static IllegalArgumentException malformed(URI uri, String what) {
        return new IllegalArgumentException(
                "'" + uri + "' is not of the form " + FORM + ": " + what + " does not fit");
    }

    /** The address of an endpoint with this name. */
    static OfiAddress of(
            byte[] endpoint, boolean isSocket, String label, String provider, long incarnation) {
        if (!isSocket || socketHost(endpoint) == null) {
            return new OfiAddress("local", 0, label, provider, endpoint, incarnation);
        }
        ByteBuffer bytes = ByteBuffer.wrap(endpoint).order(ByteOrder.BIG_ENDIAN);
        int port = bytes.getShort(2) & PORT_MAX;
        return new OfiAddress(
                socketHost(endpoint), port, label, provider, new byte[0], incarnation);
    }

    /** Host in a socket address, as URIs write it; null if it is none. */
    private static String socketHost(byte[] endpoint) {
        try {
            if (endpoint.length == LENGTH_IPV4) {
                return host(endpoint, ADDRESS_IPV4, Integer.BYTES);
            }
            return endpoint.length == LENGTH_IPV6
                    ? "[" + host(endpoint, ADDRESS_IPV6, 2 * Long.BYTES) + "]"
                    : null;
        } catch (UnknownHostException e) {
            return null;
        }
    }

    private static String host(byte[] endpoint, int at, int length) throws UnknownHostException {
        byte[] address = new byte[length];
        System.arraycopy(endpoint, at, address, 0, length);
        return InetAddress.getByAddress(address).getHostAddress();
    }

    /**
     * Name of the endpoint: as given, or the socket address of host and port.
     *
     * @throws UnknownHostException if the host has no address
     */
    byte[] endpointName() throws UnknownHostException {
        if (endpoint.length > 0) {
            return endpoint;
        }
        InetAddress address = InetAddress.getByName(host);
        boolean isIpv4 = address instanceof Inet4Address;
        ByteBuffer bytes = ByteBuffer.allocate(isIpv4 ? LENGTH_IPV4 : LENGTH_IPV6);
        bytes.order(ByteOrder.nativeOrder()).putShort((short) (isIpv4 ? FAMILY_IPV4 : FAMILY_IPV6));
        bytes.order(ByteOrder.BIG_ENDIAN).putShort((short) port);
        bytes.position(isIpv4 ? ADDRESS_IPV4 : ADDRESS_IPV6);
        bytes.put(address.getAddress());
        return bytes.array();
    }

    URI uri() {
        return URI.create(
                "ofi://"
                        + host
                        + ":"
                        + port
                        + "/"
                        + name
                        + "?provider="
                        + provider
                        + (endpoint.length == 0
                                ? ""
                                : "&endpoint=" + HexFormat.of().formatHex(endpoint))
                        + (incarnation == 0
                                ? ""
                                : "&incarnation=" + Long.toHexString(incarnation)));
    }
}
