package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Text;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How rdma-core's pingpong programs tell each other a queue pair: LID, number, packet number and
 * GID as text of a fixed length, with a NUL at its end.
 */
final class PingPongAddress {
    static final int LENGTH = 52;

    private static final Pattern FORM =
            Pattern.compile("([0-9a-f]{4}):([0-9a-f]{6}):([0-9a-f]{6}):([0-9a-f]{32})");

    private PingPongAddress() {}

    static byte[] bytes(QueuePairAddress address) {
        Gid gid = address.gid();
        String text =
                Text.format(
                        "%04x:%06x:%06x:%s",
                        address.lid(),
                        address.number(),
                        address.packetNumber(),
                        gid == null ? "0".repeat(2 * Gid.LENGTH) : gid.toString().replace(":", ""));
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), LENGTH);
    }

    /**
     * From a peer's bytes, which may be anything. A GID of zeros is none.
     *
     * @throws Messages.Failure if they are no address
     */
    static QueuePairAddress parse(byte[] bytes) {
        String text = new String(bytes, 0, LENGTH - 1, StandardCharsets.ISO_8859_1);
        Matcher matcher = FORM.matcher(text);
        if (bytes[LENGTH - 1] != 0 || !matcher.matches()) {
            throw new Messages.Failure(
                    "the other side does not speak as rdma-core's pingpong does: '%s'"
                            .formatted(text.replaceAll("[^ -~]", "?")));
        }
        Gid gid = Gid.parse(matcher.group(4));
        return new QueuePairAddress(
                Integer.parseInt(matcher.group(2), 16),
                Integer.parseInt(matcher.group(3), 16),
                Integer.parseInt(matcher.group(1), 16),
                gid.isZero() ? null : gid);
    }
}
