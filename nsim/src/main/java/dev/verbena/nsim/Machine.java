package dev.verbena.nsim;

import dev.verbena.nsim.internal.Suggestions;
import dev.verbena.nsim.network.Level;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topologies;
import dev.verbena.nsim.topology.Topology;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A machine by keys and values, as a configuration file has them (nsim-ace.md, section 8): {@code
 * link.bandwidth=4.0e9}, {@code router.rc=4ns}, {@code topology=torus(8,8,8)}. Keys that do not
 * exist are errors.
 */
public final class Machine {
    private final NetworkContext network = new NetworkContext();
    private final Map<String, Consumer<String>> keys = new TreeMap<>();
    private final Map<String, String> values = new TreeMap<>();
    private String topology;

    /** The defaults: Table 1 of the paper, and no topology yet. */
    public Machine() {
        key("link.bandwidth", "4.0e9", v -> network.linkRate(whole(v)));
        key("switch.throughput", "4.0e9", v -> network.switchRate(whole(v)));
        key("router.rc", "4ns", v -> network.routingPs(picoseconds(v)));
        key("router.va", "4ns", v -> network.vcAllocationPs(picoseconds(v)));
        key("router.sa", "4ns", v -> network.switchAllocationPs(picoseconds(v)));
        key("router.st", "128ns", v -> network.switchPs(picoseconds(v)));
        key("cable.latency", "600ps", v -> network.cablePs(picoseconds(v)));
        key("dma.bandwidth", "2.8e9", v -> network.dmaRate(whole(v)));
        key("dma", "duplex", v -> network.isDmaShared(choose("dma", v, "duplex", "shared") == 1));
        key("node.overhead", "0ns", v -> network.overheadPs(picoseconds(v)));
        key("packet.payload", "2048", v -> network.payload(number(v)));
        key("packet.header", "0", v -> network.header(number(v)));
        key("flit", "16", v -> network.flit(number(v)));
        key("flitStore", "false", v -> network.isFlitStored(isTrue("flitStore", v)));
        key("vc.perClass", "2", v -> network.vcPerClass(number(v)));
        key("vc.buffer", "2packets", v -> network.vcBuffer(packets(v)));
        key("nic.buffer", "16packets", v -> network.nicBuffer(packets(v)));
        key("nic", "turns", v -> network.isNicFifo(choose("nic", v, "turns", "fifo") == 1));
        key("control.bytes", "16", v -> network.controlBytes(number(v)));
        key("request.bytes", "16", v -> network.requestBytes(number(v)));
        key("loopback", "false", v -> network.isLoopback(isTrue("loopback", v)));
        key("message.short", "8192", v -> network.shortMax(whole(v)));
        key("level", "packet", v -> network.level(level(v)));
        key("tie", "balanced", v -> network.tie(tie(v)));
        key("topology", "", v -> topology = v);
    }

    private void key(String name, String value, Consumer<String> setter) {
        keys.put(name, setter);
        values.put(name, value);
    }

    /**
     * Sets one key.
     *
     * @throws IllegalArgumentException if there is no such key, or the value does not fit; names
     *     both
     */
    public Machine set(String key, String value) {
        checkKey(key);
        Consumer<String> setter = keys.get(key);
        try {
            setter.accept(value.strip());
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException(
                    "%s=%s is not understood; an example: %s=%s"
                            .formatted(key, value, key, values.get(key)),
                    e);
        }
        values.put(key, value.strip());
        return this;
    }

    /** Sets {@code key=value}. */
    public Machine set(String keyAndValue) {
        int equals = keyAndValue.indexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException(
                    "'" + keyAndValue + "' is not key=value; keys are " + keys.keySet());
        }
        return set(keyAndValue.substring(0, equals).strip(), keyAndValue.substring(equals + 1));
    }

    /**
     * Looks whether there is a key.
     *
     * @throws IllegalArgumentException if not; names those that there are
     */
    public void checkKey(String key) {
        if (!keys.containsKey(key)) {
            throw new IllegalArgumentException(
                    "there is no key '%s'; there are %s%s"
                            .formatted(key, keys.keySet(), Suggestions.hint(key, keys.keySet())));
        }
    }

    /** The parameters of the network. */
    public NetworkContext network() {
        return network;
    }

    /** Whether a topology has been set. */
    public boolean hasTopology() {
        return topology != null;
    }

    /** The shape; one must have been set. */
    public Topology topology() {
        if (topology == null) {
            throw new IllegalStateException(
                    "the machine has no topology; set one, as topology=torus(8,8,8)");
        }
        return Topologies.parse(topology, network.tie());
    }

    /** All keys with their values, in alphabetical order. */
    public Map<String, String> values() {
        return new TreeMap<>(values);
    }

    private static long whole(String text) {
        return new BigDecimal(text).longValueExact();
    }

    private static int number(String text) {
        return new BigDecimal(text).intValueExact();
    }

    private static int packets(String text) {
        return number(text.replaceFirst("packets?$", ""));
    }

    private static long picoseconds(String text) {
        String t = text.toLowerCase(Locale.ROOT);
        int digits = t.length();
        while (digits > 0 && Character.isLetter(t.charAt(digits - 1))) {
            digits--;
        }
        int power =
                switch (t.substring(digits)) {
                    case "ps" -> 0;
                    case "ns" -> 3;
                    case "us" -> 6;
                    case "ms" -> 9;
                    case "s" -> 12;
                    default ->
                            throw new NumberFormatException(
                                    text + ": a unit is needed, ps, ns, us, ms or s");
                };
        return new BigDecimal(t.substring(0, digits).strip())
                .scaleByPowerOfTen(power)
                .longValueExact();
    }

    private static Level level(String text) {
        int at = choose("level", text, "packet", "message", "flit");
        return List.of(Level.PACKET, Level.MESSAGE, Level.FLIT).get(at);
    }

    private static TieRule tie(String text) {
        return TieRule.values()[choose("tie", text, "positive", "balanced")];
    }

    private static boolean isTrue(String key, String text) {
        return choose(key, text, "false", "true") == 1;
    }

    private static int choose(String key, String text, String... words) {
        String what = "%s=%s: '%s'".formatted(key, text, text);
        return Suggestions.choose(what, text, List.of(words));
    }
}
