package dev.verbena.cli.chaos;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * Connections to the receiver's port of people who do not belong there: silent ones, noise, halves
 * of frames, well-formed greetings of unknown jobs with wild frames behind them. They stay open
 * until they are told to go.
 */
final class ChaosStrangers implements AutoCloseable {
    private static final int VISITORS = 12;
    private static final int MAGIC = 0x44525431;
    private static final int HEADER_LENGTH = 48;
    private static final int HELLO = 1;
    private static final int HELLO_LENGTH = 36;
    private static final int NOISE_MAX = 3_000;

    private final List<Socket> sockets = new ArrayList<>();
    private int count;

    /** Some connect and say their piece. */
    void visit(int port, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < VISITORS; i++) {
            try {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                sockets.add(socket);
                count++;
                socket.getOutputStream().write(words(random, i));
                if (i % 4 == 3) {
                    socket.shutdownOutput();
                }
            } catch (IOException e) {
                // The receiver is not there just now, or has thrown this one out already.
            }
        }
    }

    int count() {
        return count;
    }

    /** They leave, every other one without a farewell. */
    void leave() {
        for (int i = 0; i < sockets.size(); i++) {
            try (Socket socket = sockets.get(i)) {
                if (i % 2 == 0) {
                    socket.setSoLinger(true, 0);
                }
            } catch (IOException e) {
                // It was thrown out.
            }
        }
        sockets.clear();
    }

    private static byte[] words(SplittableRandom random, int kind) {
        byte[] noise = new byte[random.nextInt(NOISE_MAX)];
        random.nextBytes(noise);
        return switch (kind % 6) {
            case 0 -> new byte[0];
            case 1 -> noise;
            case 2 -> java.util.Arrays.copyOf(frame(HELLO, hello(random), 0), 20);
            case 3 -> frame(random.nextInt(1, 12), noise(random, random.nextInt(64)), 1);
            case 4 -> joined(frame(HELLO, hello(random), 0), noise);
            default ->
                    joined(
                            frame(HELLO, hello(random), 0),
                            frame(
                                    random.nextInt(1, 12),
                                    noise(random, random.nextInt(500)),
                                    random.nextLong(4)));
        };
    }

    private static byte[] noise(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] joined(byte[] first, byte[] second) {
        return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
    }

    private static byte[] hello(SplittableRandom random) {
        ByteBuffer hello = ByteBuffer.allocate(HELLO_LENGTH);
        hello.putLong(random.nextLong()).putLong(random.nextLong());
        hello.putInt(random.nextInt(8)).putLong(random.nextLong(1L << 24)).putLong(0);
        return hello.array();
    }

    /** With a right checksum, so that it is looked into. */
    private static byte[] frame(int type, byte[] payload, long sequence) {
        ByteBuffer frame = ByteBuffer.allocate(HEADER_LENGTH + payload.length);
        frame.putInt(MAGIC).put((byte) 1).put((byte) type).putShort((short) 3).putLong(sequence);
        frame.putInt(7).putInt(1).putLong(1).putLong(0).putInt(payload.length);
        CRC32C crc = new CRC32C();
        crc.update(frame.array(), 0, HEADER_LENGTH - 4);
        crc.update(payload);
        frame.putInt((int) crc.getValue()).put(payload);
        return frame.array();
    }

    @Override
    public void close() {
        leave();
    }
}
