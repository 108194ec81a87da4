package dev.verbena.cli.stage.experiment;

import java.util.ArrayList;
import java.util.List;

/** Which points there are. */
final class ExperimentPlan {
    static final String BLOCKS_ONE = "3";
    static final String BLOCKS_FOUR = "4";
    static final String SIZES = "5";
    static final String METHODS = "6";
    private static final int BLOCK_MEBIBYTES = 256;
    private static final int THREADS = 4;
    private static final int PARTS = 8;

    private final List<Trial> trials = new ArrayList<>();

    ExperimentPlan(List<Integer> blocks, long bytes, boolean hasSsh) {
        for (int threads : List.of(1, THREADS)) {
            String figure = threads == 1 ? BLOCKS_ONE : BLOCKS_FOUR;
            for (int block : blocks) {
                trials.add(staged(figure, block, threads, bytes));
            }
        }
        for (int parts = PARTS; parts > 0; parts /= 2) {
            trials.add(staged(SIZES, BLOCK_MEBIBYTES, 1, bytes / parts));
        }
        for (boolean hasLoop : List.of(false, true)) {
            for (Method method : Method.values()) {
                if (hasSsh || !method.needsSsh) {
                    trials.add(new Trial(METHODS, method, BLOCK_MEBIBYTES, 1, bytes, hasLoop));
                }
            }
        }
    }

    private static Trial staged(String figure, int block, int threads, long bytes) {
        return new Trial(figure, Method.STAGED_MEMORY, block, threads, bytes, false);
    }

    List<Trial> trials() {
        return trials;
    }

    List<Trial> of(String figure) {
        return trials.stream().filter(each -> each.figure.equals(figure)).toList();
    }

    /** Of figure 6; null if it was left out. */
    Trial of(Method method, boolean hasLoop) {
        return of(METHODS).stream()
                .filter(each -> each.method == method && each.hasLoop == hasLoop)
                .findFirst()
                .orElse(null);
    }
}
