package dev.verbena.nessie.service;

import dev.verbena.staging.metadata.Box;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** Versions of an array that several writers put together, and how far they are. World's thread. */
final class SimulatedField {
    private static final int LENGTH_MAX = 2_000;

    final String name;
    final int versions;

    /** Those of which a writer knows that they are sealed. */
    final Set<Long> sealed = new TreeSet<>();

    private final int writers;
    private final List<ArrayDescription> arrays = new ArrayList<>();
    private final List<List<Box>> boxes = new ArrayList<>();
    private final int[] endedCounts;
    private final boolean[] haveFailed;

    SimulatedField(String name, int versions, int writers, SplittableRandom random) {
        this.name = name;
        this.versions = versions;
        this.writers = writers;
        endedCounts = new int[versions];
        haveFailed = new boolean[versions];
        for (int version = 0; version < versions; version++) {
            long[] shape = new long[1 + random.nextInt(3)];
            int longest = (int) Math.pow(LENGTH_MAX, 1.0 / shape.length);
            for (int i = 0; i < shape.length; i++) {
                shape[i] = 1 + random.nextInt(longest);
            }
            ArrayDescription array =
                    new ArrayDescription(name, version, ArrayType.INT64, Box.whole(shape));
            arrays.add(array);
            boxes.add(PlainArray.decompose(array.whole(), 1 + random.nextInt(8), random));
        }
    }

    ArrayDescription array(int version) {
        return arrays.get(version);
    }

    /** What it must hold. */
    PlainArray plain(int version) {
        return new PlainArray(arrays.get(version), name.hashCode() + version);
    }

    /** What this writer puts. */
    List<Box> boxes(int version, int writer) {
        List<Box> own = new ArrayList<>();
        for (int i = writer; i < boxes.get(version).size(); i += writers) {
            own.add(boxes.get(version).get(i));
        }
        return own;
    }

    /** A writer is done with a version; true: all are, and it is whole. */
    boolean ended(int version, boolean isOk) {
        haveFailed[version] |= !isOk;
        return ++endedCounts[version] == writers && !haveFailed[version];
    }
}
