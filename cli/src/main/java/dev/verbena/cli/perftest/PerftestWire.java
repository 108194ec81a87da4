package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The connection over which two programs of perftest 4.5 meet and keep step: a socket, or a queue
 * pair of rdma_cm. Each record is exchanged both ways with the same length: the client writes and
 * then reads, the server reads and then writes. Numbers are big-endian. Whatever arrives is
 * checked.
 */
final class PerftestWire {
    /** What version 4.5+0.17 of perftest calls itself here. */
    static final String VERSION = "6.06";

    static final int VERSION_LENGTH = 16;

    /** C reads a version as a string, up to its NUL; who looks behind that finds a Verbena. */
    private static final String MARK = "verbena1";

    private static final double VERSION_MIN = 5.70;

    final BootstrapLink link;

    PerftestWire(BootstrapLink link) {
        this.link = link;
    }

    /** Sends, and receives as many bytes. */
    byte[] exchange(byte[] mine) {
        if (link.isClient()) {
            link.write(mine);
            return link.read(mine.length);
        }
        byte[] theirs = link.read(mine.length);
        link.write(mine);
        return theirs;
    }

    int exchangeInt(int mine) {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(4).putInt(mine).array())).getInt();
    }

    long exchangeLong(long mine) {
        return ByteBuffer.wrap(exchange(ByteBuffer.allocate(8).putLong(mine).array())).getLong();
    }

    double exchangeDouble(double mine) {
        return Double.longBitsToDouble(exchangeLong(Double.doubleToRawLongBits(mine)));
    }

    PerftestKeys exchange(PerftestKeys mine) {
        return link instanceof BootstrapQueue
                ? PerftestKeys.parseStructure(exchange(mine.structure()))
                : PerftestKeys.parse(exchange(mine.bytes()), mine.gid() != null);
    }

    /**
     * First step: the versions.
     *
     * @return true if the other side is a Verbena, too
     * @throws Messages.Failure if the other side is too old, or no perftest at all
     */
    boolean exchangeVersions() {
        byte[] told = (VERSION + '\0' + MARK).getBytes(StandardCharsets.US_ASCII);
        byte[] mine = Arrays.copyOf(told, VERSION_LENGTH);
        byte[] theirs = exchange(mine);
        int end = 0;
        while (end < theirs.length && theirs[end] != 0) {
            end++;
        }
        String version = new String(theirs, 0, end, StandardCharsets.ISO_8859_1);
        if (!version.matches("[0-9]{1,3}\\.[0-9]{1,4}")
                || Double.parseDouble(version) < VERSION_MIN) {
            throw new Messages.Failure(
                    "the other side calls itself '%s'; a perftest from %s on was "
                            + "expected (this speaks %s, perftest 4.5)",
                    version.replaceAll("[^ -~]", "?"), VERSION_MIN, VERSION);
        }
        byte[] mark = MARK.getBytes(StandardCharsets.US_ASCII);
        int from = end + 1;
        return from + mark.length <= theirs.length
                && Arrays.equals(mark, Arrays.copyOfRange(theirs, from, from + mark.length));
    }

    /**
     * The packet length, as the digit of {@code enum ibv_mtu}: 256 is 1, 4096 is 5.
     *
     * @return the smaller one of both sides' in bytes
     */
    int exchangeMtu(int bytes) {
        int mine = Integer.numberOfTrailingZeros(bytes) - 7;
        byte[] theirs = exchange(new byte[] {(byte) ('0' + mine), 0});
        int code = theirs[0] - '0';
        if (code < 1 || code > 5 || theirs[1] != 0) {
            throw new Messages.Failure(
                    "the other side does not speak as perftest does: no packet length "
                            + "1 to 5, but %s, %s",
                    theirs[0], theirs[1]);
        }
        return 128 << Math.min(code, mine);
    }
}
