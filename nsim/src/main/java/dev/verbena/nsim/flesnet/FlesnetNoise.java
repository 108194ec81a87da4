package dev.verbena.nsim.flesnet;

import dev.verbena.nsim.world.World;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The lines {@code noise.KEY = VALUE} of a machine's file. Immutable; times in nanoseconds. */
final class FlesnetNoise {
    private static final String PREFIX = "noise.";

    private final Map<String, String> values;

    /** Of the text of a file. */
    FlesnetNoise(String text) {
        values =
                text.lines()
                        .filter(FlesnetNoise::isNoise)
                        .map(line -> line.split("="))
                        .collect(
                                Collectors.toMap(
                                        part -> part[0].strip(),
                                        part -> part[1].strip(),
                                        (first, second) -> second,
                                        TreeMap::new));
    }

    /** Whether a line of a machine's file is for this. */
    static boolean isNoise(String line) {
        return line.startsWith(PREFIX);
    }

    private int number(String key) {
        String value = values.get(PREFIX + key);
        if (value == null) {
            throw new IllegalArgumentException("the machine's file has no " + PREFIX + key);
        }
        return Integer.parseInt(value);
    }

    private long ns(String key) {
        String value = values.getOrDefault(PREFIX + key, "");
        long factor = value.endsWith("us") ? 1_000 : value.endsWith("ms") ? 1_000_000 : 1;
        if (!value.matches("\\d+(ns|us|ms)")) {
            throw new IllegalArgumentException(
                    PREFIX + key + " = " + value + " is no time in ns, us or ms");
        }
        return factor * Long.parseLong(value.substring(0, value.length() - 2));
    }

    /** Sets what a world has before its processes begin. */
    void apply(World world) {
        world.randomSchedule(ns("step"));
        world.noise().posts(ns("post"), ns("postJitter"));
        others(world, 1);
    }

    /** Has others send so many times as much as in the file. */
    void others(World world, int times) {
        world.noise().others(number("othersBytes"), ns("othersGap") / times);
    }

    /** When inputs start after the first, in order. */
    long[] startsNs(SplittableRandom random, int inputs) {
        return random.longs(inputs, 0, ns("startSkew")).sorted().toArray();
    }

    /** How slow the next node is; 1: not. */
    int slowness(SplittableRandom random) {
        return random.nextInt(number("slowOneIn")) == 0 ? number("slowness") : 1;
    }

    /** How long the next compute node keeps timeslices. */
    long holdNs(SplittableRandom random) {
        return random.nextLong(ns("hold"));
    }
}
