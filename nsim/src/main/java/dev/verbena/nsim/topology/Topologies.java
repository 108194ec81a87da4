package dev.verbena.nsim.topology;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

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
        DetourRouting detour = DetourRouting.MINIMAL;
        for (DetourRouting d : DetourRouting.values()) {
            if (whole.endsWith(",routing=" + d.name().toLowerCase(Locale.ROOT))) {
                detour = d;
            }
        }
        String inner =
                whole.replaceFirst(",routing=" + detour.name().toLowerCase(Locale.ROOT) + "$", "");
        try {
            return switch (all.substring(0, open)) {
                case "torus" -> GridTopology.torus(tie, numbers(inner));
                case "mesh" -> GridTopology.mesh(numbers(inner));
                case "switch" -> TreeTopology.single(Integer.parseInt(inner));
                case "xgft" -> xgft(inner);
                case "fattree" -> fatTree(named(inner));
                case "leafspine" -> leafSpine(named(inner));
                case "dragonfly" -> dragonfly(named(inner), detour);
                case "hyperx" -> hyperX(inner, detour);
                case "slimfly" -> slimFly(named(inner), detour);
                default -> throw unknown(text, null);
            };
        } catch (NumberFormatException | ArithmeticException | NegativeArraySizeException e) {
            throw unknown(text, e);
        }
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
        return new HyperXTopology(take(named(parts[1]), "nodes"), detour, numbers(parts[0]));
    }

    private static int[] numbers(String list) {
        return Arrays.stream(list.split(",")).mapToInt(Integer::parseInt).toArray();
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
        int leaves = named.getOrDefault("leaves", -1);
        if (levels < 1 || levels > 10) {
            throw new IllegalArgumentException(
                    "fattree of " + levels + " levels; 1 to 10 are possible");
        }
        int[] m = new int[levels];
        int[] w = new int[levels];
        Arrays.fill(m, down);
        Arrays.fill(w, up);
        w[0] = 1;
        if (leaves > 0 && levels > 1) {
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

    private static Map<String, Integer> named(String list) {
        Map<String, Integer> named = new HashMap<>();
        for (String part : list.split(",")) {
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw new NumberFormatException(part);
            }
            named.put(part.substring(0, equals), Integer.parseInt(part.substring(equals + 1)));
        }
        return named;
    }
}
