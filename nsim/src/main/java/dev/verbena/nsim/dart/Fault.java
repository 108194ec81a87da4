package dev.verbena.nsim.dart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * One fault of a plan.
 *
 * @param kind what
 * @param atNs when it begins
 * @param forNs how long it lasts
 * @param host the host that it hits, or one end of a link
 * @param other the other end
 * @param amount how much, for kinds that need it
 */
record Fault(Kind kind, long atNs, long forNs, String host, String other, int amount) {
    /** What can happen. */
    enum Kind {
        KILL,
        CRASH,
        FREEZE,
        CUT,
        CUT_ONE_WAY,
        SLOW,
        REFUSE,
        FAIL_REGISTRATION,
        CLOCK,
        DELAYS,
        DISK_FULL
    }

    static final long STOP_NS = 8_000_000_000L;
    private static final int FAULTS_MAX = 4;
    private static final long QUICK_NS = 300_000_000L;

    /** A plan of faults, all over before {@link #STOP_NS}; one in four is empty. */
    static List<Fault> plan(long seed, DartShape shape) {
        SplittableRandom random = new SplittableRandom(seed * 31 + 7);
        List<Fault> plan = new ArrayList<>();
        int count = random.nextInt(FAULTS_MAX);
        for (int i = 0; i < count; i++) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            // Most of a run happens soon after its start.
            long at = random.nextLong(random.nextInt(3) > 0 ? QUICK_NS : STOP_NS / 2);
            long length = random.nextLong(random.nextBoolean() ? QUICK_NS : STOP_NS / 2);
            String host = anyHost(random, shape);
            String other = anyHost(random, shape);
            plan.add(new Fault(kind, at, length, host, other, 1 + random.nextInt(200)));
        }
        return plan;
    }

    private static String anyHost(SplittableRandom random, DartShape shape) {
        return switch (random.nextInt(3)) {
            case 0 -> DartCluster.receiver(0);
            case 1 -> DartCluster.server(random.nextInt(shape.servers()));
            default -> DartCluster.node(random.nextInt(shape.nodes()));
        };
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s %s%s at %.3f ms for %.3f ms (%d)",
                kind,
                host,
                kind == Kind.CUT || kind == Kind.CUT_ONE_WAY || kind == Kind.SLOW
                        ? "-" + other
                        : "",
                atNs / 1e6,
                forNs / 1e6,
                amount);
    }
}
