package dev.verbena.verbs;

import java.util.List;

/**
 * The address of a port that the toolkit would use, and why. RoCE NICs have one for each address
 * and version; which one is meant is the first thing that goes wrong.
 *
 * @param entry the chosen one
 * @param reason why, for people
 */
public record GidChoice(GidEntry entry, String reason) {

    /**
     * The best: RoCE v2 over IPv4, then over a global IPv6 address, then link-local, then v1, the
     * lowest index of each. On InfiniBand the first.
     *
     * @param where device and port, for the message
     * @throws IllegalStateException if there is none
     */
    static GidChoice of(List<GidEntry> entries, boolean isEthernet, String where) {
        GidEntry best = null;
        for (GidEntry entry : entries) {
            boolean isBetter = best == null || rank(entry, isEthernet) < rank(best, isEthernet);
            if (!entry.gid().isZero() && isBetter) {
                best = entry;
            }
        }
        if (best == null) {
            throw new IllegalStateException(
                    "%s has no GID: %s"
                            .formatted(
                                    where,
                                    isEthernet
                                            ? "give its network interface an IP address (ip address add)"
                                            : "no subnet manager has configured it (opensm)"));
        }
        return new GidChoice(best, reason(best, isEthernet, entries.size()));
    }

    private static int rank(GidEntry entry, boolean isEthernet) {
        if (!isEthernet) {
            return entry.index();
        }
        int version = entry.type() == GidEntry.ROCE_V2 ? 0 : 4;
        int local = entry.gid().isLinkLocal() ? 2 : 0;
        return version + local + (entry.gid().isIpv4() ? 0 : 1);
    }

    private static String reason(GidEntry entry, boolean isEthernet, int count) {
        String among = "GID index " + entry.index() + " of " + count + ", " + entry.gid().address();
        if (!isEthernet) {
            return among + ": the first of an InfiniBand port";
        }
        String kind =
                entry.gid().isLinkLocal()
                        ? "link-local: reaches this link only; no routed address is configured"
                        : entry.gid().isIpv4() ? "IPv4" : "a global IPv6 address";
        return "%s: %s%s%s"
                .formatted(
                        among,
                        entry.typeName(),
                        entry.type() == GidEntry.ROCE_V2
                                ? ", which can be routed, "
                                : ", for lack of a RoCE v2 one, ",
                        kind);
    }
}
