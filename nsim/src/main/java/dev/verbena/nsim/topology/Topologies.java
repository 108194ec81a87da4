package dev.verbena.nsim.topology;

import dev.verbena.nsim.internal.Suggestions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Shapes by name, as configurations write them: {@code torus(8,8,8)}, {@code mesh(4,4)}, {@code
 * switch(16)}, {@code fattree(levels=2,down=4,up=4,leaves=4)}, {@code xgft(4,4;1,4)}, {@code
 * leafspine(leaves=4,down=4,spines=4)}, {@code dragonfly(p=2,a=4,h=2)}, {@code
 * hyperx(4,4;nodes=2)}, {@code slimfly(q=5,nodes=3)}; the last three also with {@code
 * routing=valiant} or {@code ugal}.
 */
public final class Topologies {
    private static final String KNOWN =
            "torus(8,8,8), mesh(4,4), switch(16), fattree(levels=2,down=4,up=4,leaves=4),"
                    + " xgft(4,4;1,4), leafspine(leaves=4,down=4,spines=4), dragonfly(p=2,a=4,h=2),"
                    + " hyperx(4,4;nodes=2), slimfly(q=5,nodes=3), the last three also with"
                    + " routing=valiant or routing=ugal";

    private static final String ROUTING = ",routing=";
    private static final List<String> WITH_DETOURS = List.of("dragonfly", "hyperx", "slimfly");

    private Topologies() {}

    /**
     * A shape.
     *
     * @param text name and numbers
     * @param tie for tori
     * @throws IllegalArgumentException if it is not understood; names what is
     */
    public static Topology parse(String text, TieRule tie) {
        String all = text.replace(" ", "").toLowerCase(Locale.ROOT);
        int open = all.indexOf('(');
        if (open < 0 || !all.endsWith(")")) {
            throw unknown(text, null);
        }
        String whole = all.substring(open + 1, all.length() - 1);
        int last = whole.lastIndexOf(ROUTING);
        String inner = last < 0 ? whole : whole.substring(0, last);
        String shape = all.substring(0, open);
        try {
            DetourRouting detour = DetourRouting.MINIMAL;
            if (last >= 0 && KNOWN.contains(shape + "(")) {
                detour = detour(shape, whole.substring(last + ROUTING.length()));
            }
            return switch (shape) {
                case "torus" -> GridTopology.torus(tie, numbers(inner));
                case "mesh" -> GridTopology.mesh(numbers(inner));
                case "switch" -> TreeTopology.single(Integer.parseInt(inner));
                case "xgft" -> xgft(inner);
                case "fattree" -> fatTree(named(shape, inner, "levels", "down", "up", "leaves"));
                case "leafspine" -> leafSpine(named(shape, inner, "leaves", "down", "spines"));
                case "dragonfly" -> dragonfly(named(shape, inner, "p", "a", "h"), detour);
                case "hyperx" -> hyperX(inner, detour);
                case "slimfly" -> slimFly(named(shape, inner, "q", "nodes"), detour);
                default -> throw unknown(text, null);
            };
        } catch (NumberFormatException e) {
            throw unknown(text, e);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "topology '" + text + "' has more than 2^31 nodes or ports; make it smaller",
                    e);
        }
    }

    private static DetourRouting detour(String shape, String word) {
        if (!WITH_DETOURS.contains(shape)) {
            throw new IllegalArgumentException(
                    "%s has no routing=; leave it out, only %s have it"
                            .formatted(shape, String.join(", ", WITH_DETOURS)));
        }
        List<String> words = List.of("minimal", "valiant", "ugal");
        return DetourRouting.values()[Suggestions.choose("routing=" + word, word, words)];
    }

    private static IllegalArgumentException unknown(String text, Exception cause) {
        return new IllegalArgumentException(
                "topology '" + text + "' is not understood; there are " + KNOWN, cause);
    }

    private static Topology dragonfly(Map<String, Integer> named, DetourRouting detour) {
        return new DragonflyTopology(take(named, "p"), take(named, "a"), take(named, "h"), detour);
    }

    private static Topology slimFly(Map<String, Integer> named, DetourRouting detour) {
        return new SlimFlyTopology(take(named, "q"), take(named, "nodes"), detour);
    }

    private static Topology hyperX(String inner, DetourRouting detour) {
        String[] parts = inner.split(";");
        if (parts.length != 2) {
            throw new NumberFormatException(inner);
        }
        return new HyperXTopology(
                take(named("hyperx", parts[1], "nodes"), "nodes"), detour, numbers(parts[0]));
    }

    private static int[] numbers(String list) {
        return Arrays.stream(list.split(",")).mapToInt(Integer::parseInt).toArray();
    }

    /** The other way round. */
    static String list(int[] numbers) {
        return Arrays.stream(numbers).mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    private static Topology xgft(String inner) {
        String[] parts = inner.split(";");
        if (parts.length != 2) {
            throw new NumberFormatException(inner);
        }
        return new TreeTopology(null, numbers(parts[0]), numbers(parts[1]));
    }

    private static Topology leafSpine(Map<String, Integer> named) {
        return TreeTopology.leafSpine(
                take(named, "leaves"), take(named, "down"), take(named, "spines"));
    }

    /**
     * The lowest switches have {@code down} nodes each, those above {@code down} children, those
     * below the top {@code up} parents.
     */
    private static Topology fatTree(Map<String, Integer> named) {
        int levels = take(named, "levels");
        int down = take(named, "down");
        int up = take(named, "up");
        int leaves = named.getOrDefault("leaves", 0);
        if (named.containsKey("leaves") && leaves < 1) {
            throw new IllegalArgumentException(
                    "fattree: leaves=" + leaves + "; at least 1 is needed, or leave it out");
        }
        if (levels < 1 || levels > 10) {
            throw new IllegalArgumentException(
                    "fattree of " + levels + " levels; 1 to 10 are possible");
        }
        int[] m = new int[levels];
        int[] w = new int[levels];
        Arrays.fill(m, down);
        Arrays.fill(w, up);
        w[0] = 1;
        // The tree refuses a down below 1.
        if (leaves > 0 && levels > 1 && down > 0) {
            int below = (int) Math.pow(down, levels - 2);
            if (leaves % below != 0) {
                throw new IllegalArgumentException(
                        "fattree: leaves=" + leaves + " is no multiple of " + below);
            }
            m[levels - 1] = leaves / below;
        }
        String name = "fattree(levels=" + levels + ",down=" + down + ",up=" + up;
        return new TreeTopology(name + (leaves > 0 ? ",leaves=" + leaves + ")" : ")"), m, w);
    }

    private static int take(Map<String, Integer> named, String key) {
        Integer value = named.get(key);
        if (value == null) {
            throw new IllegalArgumentException(
                    "the topology lacks " + key + "=; examples: " + KNOWN);
        }
        return value;
    }

    private static Map<String, Integer> named(String shape, String list, String... keys) {
        Map<String, Integer> named = new HashMap<>();
        for (String part : list.split(",")) {
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw new NumberFormatException(part);
            }
            String key = part.substring(0, equals);
            checkKey(shape, key, List.of(keys));
            if (named.put(key, Integer.parseInt(part.substring(equals + 1))) != null) {
                throw new IllegalArgumentException(
                        "%s has %s= twice; leave one out".formatted(shape, key));
            }
        }
        return named;
    }

    private static void checkKey(String shape, String key, List<String> keys) {
        if (!keys.contains(key)) {
            throw new IllegalArgumentException(
                    "%s has no '%s=' in this place; there are %s%s"
                            .formatted(shape, key, keys, Suggestions.hint(key, keys)));
        }
    }
}
