package dev.verbena.nsim.world;

import dev.verbena.nsim.network.MessageTable;
import java.util.SplittableRandom;

/**
 * What a machine that is not alone has: posts take a process's time, and others send messages over
 * the same cables. Seeded by the world. Belongs to the world's thread.
 */
public final class WorldNoise {
    private final World world;
    private final int kind;
    private final int nodes;
    private SplittableRandom posts;
    private SplittableRandom others;
    private long postPs;
    private long jitterPs;
    private int bytes;
    private long meanGapPs;
    private boolean isScheduled;

    WorldNoise(World world, int kind, int nodes) {
        this.world = world;
        this.kind = kind;
        this.nodes = nodes;
        world.engine.handler(kind, (time, target, argument) -> onOthers());
    }

    /**
     * What a process takes for each operation that it posts, one after the other.
     *
     * @param costNs nanoseconds at least
     * @param jitterNs at most so many more
     */
    public WorldNoise posts(long costNs, long jitterNs) {
        posts = world.stream("posts");
        postPs = costNs * 1000;
        jitterPs = jitterNs * 1000;
        return this;
    }

    /**
     * Messages of others, from random nodes to random ones, until it is called again.
     *
     * @param length of a message, bytes
     * @param meanGapNs mean time between two messages of one node, exponentially distributed; 0: no
     *     messages
     */
    public WorldNoise others(int length, long meanGapNs) {
        others = others == null ? world.stream("others") : others;
        bytes = length;
        meanGapPs = meanGapNs * 1000 / nodes;
        if (meanGapPs > 0 && !isScheduled) {
            scheduleNext();
        }
        return this;
    }

    /** What the next post costs. */
    long postPs() {
        return jitterPs == 0 ? postPs : postPs + posts.nextLong(jitterPs);
    }

    private void scheduleNext() {
        isScheduled = true;
        long gap = Math.max(1, Math.round(-StrictMath.log(1 - others.nextDouble()) * meanGapPs));
        world.engine.schedule(world.engine.nowPs() + gap, 0, 0, kind, 0);
    }

    private void onOthers() {
        isScheduled = false;
        if (meanGapPs == 0) {
            return;
        }
        int from = others.nextInt(nodes);
        int to = others.nextInt(nodes);
        if (from != to) {
            MessageTable messages = world.network.messages();
            int row = messages.add(MessageTable.PUT, from, to, bytes);
            world.network.submit(row);
        }
        scheduleNext();
    }
}
