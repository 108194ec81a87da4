package dev.verbena.portals.model;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One thing that happens in a run: a kind and a seed from which everything else about it is drawn,
 * as far as the world at that moment allows. So any part of a list of actions is a list, too, and a
 * failing one can be made shorter.
 */
record ModelAction(Kind kind, long seed) {
    enum Kind {
        POST_FEW,
        POST_EXACT,
        POST_WILD,
        ENTRY,
        ANYWHERE,
        DESCRIPTOR,
        BIND,
        UNLINK_DESCRIPTOR,
        UNLINK_ENTRY,
        UPDATE,
        PUT_FEW,
        PUT_EXACT,
        GET_FEW,
        GET_EXACT,
        GET_PUT_FEW,
        GET_PUT_EXACT,
        ACCESS,
        QUEUE,
        FREE,
        TAKE,
        LOOK
    }

    /** Weights of the kinds, in their order: few entries with everything; many exact ones. */
    private static final int[][] WEIGHTS = {
        {14, 0, 0, 3, 1, 4, 8, 3, 3, 6, 40, 0, 20, 0, 16, 0, 2, 2, 1, 6, 4},
        {1, 40, 4, 1, 1, 2, 6, 3, 5, 3, 1, 50, 1, 20, 1, 12, 0, 1, 0, 2, 2},
    };

    /** Actions of a run. */
    static List<ModelAction> draw(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] weights = WEIGHTS[random.nextInt(WEIGHTS.length)];
        int all = 0;
        for (int weight : weights) {
            all += weight;
        }
        List<ModelAction> actions = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int at = random.nextInt(all);
            int kind = 0;
            while (at >= weights[kind]) {
                at -= weights[kind++];
            }
            actions.add(new ModelAction(Kind.values()[kind], random.nextLong()));
        }
        return actions;
    }
}
