package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportContext;
import java.util.Map;
import java.util.Set;

/**
 * What {@code TransportContext.option} may say to {@code verbs://}.
 *
 * @param device name of the device; empty: the first with an active port
 * @param devicePort port of the device, from 1
 * @param gid index of the port's address; -1: chosen
 * @param address where the TCP socket listens and what the own URI says; empty: the GID's address
 * @param port TCP port; 0: any
 * @param serviceLevel 0 to 15
 * @param trafficClass 0 to 255
 * @param timeout code of the time after which a lost packet is noticed, 1 to 31; 0: from the peer
 *     timeout
 * @param segmentLengthMax bytes of one request; 0: as much as the port can
 */
record VerbsOptions(
        String device,
        int devicePort,
        int gid,
        String address,
        int port,
        int serviceLevel,
        int trafficClass,
        int timeout,
        int segmentLengthMax) {
    private static final Set<String> KNOWN =
            Set.of(
                    "device",
                    "devicePort",
                    "gid",
                    "address",
                    "port",
                    "serviceLevel",
                    "trafficClass",
                    "timeout",
                    "segmentLengthMax");

    /**
     * Checks the context, and reads the options.
     *
     * @throws IllegalArgumentException naming the option, its value and what it can be
     */
    static VerbsOptions of(TransportContext context) {
        Map<String, String> options =
                context.conclude(VerbsTransportProvider.SCHEME, KNOWN).options();
        return new VerbsOptions(
                options.getOrDefault("device", ""),
                number(options, "devicePort", 1, 1, 255),
                number(options, "gid", -1, 0, 255),
                options.getOrDefault("address", ""),
                number(options, "port", 0, 0, 65_535),
                number(options, "serviceLevel", 0, 0, 15),
                number(options, "trafficClass", 0, 0, 255),
                number(options, "timeout", 0, 1, 31),
                number(options, "segmentLengthMax", 0, 4096, 1 << 30));
    }

    private static int number(
            Map<String, String> options, String name, int absent, int min, int max) {
        String text = options.get(name);
        if (text == null) {
            return absent;
        }
        if (text.matches("[0-9]{1,10}")) {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return (int) value;
            }
        }
        throw new IllegalArgumentException(
                "option " + name + "='" + text + "'; it can be " + min + " to " + max);
    }
}
