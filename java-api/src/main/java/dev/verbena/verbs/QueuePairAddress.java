package dev.verbena.verbs;

/**
 * What a peer must know of a queue pair to reach it. Exchanged by any other way, for example a
 * socket; {@link #toString} and {@link #parse} are the text for that.
 *
 * @param number of the queue pair, 24 bits
 * @param packetNumber its first packet's number, 24 bits
 * @param lid of its port; 0 on Ethernet
 * @param gid of its port; null to use the LID alone
 */
public record QueuePairAddress(int number, int packetNumber, int lid, Gid gid) {
    private static final int BITS_24 = 0xffffff;
    private static final int PARTS = 4;

    /** Refuses what no queue pair has. */
    public QueuePairAddress {
        if ((number & ~BITS_24) != 0 || (packetNumber & ~BITS_24) != 0 || (lid & ~0xffff) != 0) {
            throw new IllegalArgumentException(
                    "number " + number + ", packet number " + packetNumber + ", LID " + lid);
        }
    }

    /**
     * From the text of {@link #toString}.
     *
     * @throws IllegalArgumentException for any other
     */
    public static QueuePairAddress parse(String text) {
        String[] parts = text.trim().split("/", -1);
        if (parts.length != PARTS) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not number/packetNumber/lid/gid in hexadecimal digits");
        }
        return new QueuePairAddress(
                Integer.parseInt(parts[0], 16),
                Integer.parseInt(parts[1], 16),
                Integer.parseInt(parts[2], 16),
                parts[3].isEmpty() ? null : Gid.parse(parts[3]));
    }

    /** {@code number/packetNumber/lid/gid}, in hexadecimal digits. */
    @Override
    public String toString() {
        return String.format(
                "%x/%x/%x/%s",
                number, packetNumber, lid, gid == null ? "" : gid.toString().replace(":", ""));
    }
}
