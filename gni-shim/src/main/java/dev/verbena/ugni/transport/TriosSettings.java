package dev.verbena.ugni.transport;

import java.util.Map;
import java.util.TreeSet;

/**
 * Variables by which Trios' NNTI chooses the engine of a transfer; aliases of the option {@code
 * gni.fmaMax} (Nessie's specification, section 1.7). Sends are short messages in any mode.
 */
final class TriosSettings {
    static final String MODE = "TRIOS_NNTI_RDMA_MODE";
    static final String CROSSOVER = "TRIOS_NNTI_FMA_BTE_CROSSOVER_SIZE";

    /** What moves by FMA, bytes at most; empty: as {@link #CROSSOVER} says. */
    private static final Map<String, String> MODES =
            Map.of(
                    "RDMA_FMA", Long.toString(GniTransportProvider.FMA_MAX),
                    "RDMA_BTE", "0",
                    "RDMA_MIXED", "0",
                    "RDMA_CROSSOVER", "");

    private TriosSettings() {}

    /**
     * Longest transfer by FMA, as text.
     *
     * @param otherwise if no variable is set
     * @throws IllegalArgumentException for a mode that there is not
     */
    static String fmaMax(Map<String, String> environment, String otherwise) {
        String mode = environment.getOrDefault(MODE, "RDMA_CROSSOVER");
        String max = MODES.get(mode);
        if (max == null) {
            throw new IllegalArgumentException(
                    "%s=%s: one of %s".formatted(MODE, mode, new TreeSet<>(MODES.keySet())));
        }
        return max.isEmpty() ? environment.getOrDefault(CROSSOVER, otherwise) : max;
    }
}
