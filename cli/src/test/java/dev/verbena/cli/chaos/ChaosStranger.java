package dev.verbena.cli.chaos;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process that belongs to no service and connects to the master over the transport: {@code CONFIG
 * SCHEME SEED}. Sends noise, and control records with a right checksum and wild fields; then stays
 * until it is killed.
 */
final class ChaosStranger {
    private static final int MAGIC = 0x44415254;
    private static final int RECORD_LENGTH = 128;
    private static final int CRC_OFFSET = 124;
    private static final int RECORDS = 60;
    private static final int FIRST_TYPE = 3;
    private static final int TYPE_END = 20;
    private static final long LIFE_NS = TimeUnit.SECONDS.toNanos(20);

    private ChaosStranger() {}

    public static void main(String[] arguments) throws Exception {
        if (!Files.exists(Path.of(arguments[0]))) {
            return; // There is no master just now.
        }
        String url = "";
        UUID job = new UUID(0, 0);
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            url = line.startsWith("url=") ? line.substring(4) : url;
            job = line.startsWith("job=") ? UUID.fromString(line.substring(4)) : job;
        }
        SplittableRandom random = new SplittableRandom(Long.parseLong(arguments[2]));
        TransportContext opening = new TransportContext().messageLengthMax(2048).connectionsMax(4);
        opening.creditsPerConnection(16).receiveSlotCount(64);
        try (RealEnvironment environment =
                        RealEnvironment.builder().application("chaos stranger").build();
                Transport transport = environment.openTransport(arguments[1], opening);
                RegisteredRegion region = transport.allocate(4096, 0)) {
            UnsafeBuffer bytes = region.buffer(0, 4096);
            byte[] noise = new byte[4096];
            long[] connected = new long[1];
            int[] free = {1};
            TransportHandler events = events(connected, free);
            transport.connect(URI.create(url), bytes, 0, 0, 0, LIFE_NS);
            long end = transport.nanoTime() + LIFE_NS;
            int sent = 0;
            while (transport.nanoTime() - end < 0) {
                transport.poll(events, 16);
                if (connected[0] == 0 || free[0] == 0 || sent == RECORDS) {
                    transport.await(transport.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50));
                    continue;
                }
                random.nextBytes(noise);
                bytes.putBytes(0, noise);
                int length = sent % 3 == 0 ? random.nextInt(1100) : record(bytes, job, random);
                if (transport.send(connected[0], region, 0, length, 0, 0) == Transport.ACCEPTED) {
                    free[0] = 0;
                    sent++;
                }
            }
        }
    }

    private static TransportHandler events(long[] connected, int[] free) {
        return new TransportHandler() {
            @Override
            public void onConnected(long connection, long context) {
                connected[0] = connection;
                System.out.println("connected");
            }

            @Override
            public void onCompletion(
                    long connection, int operation, long context, int status, long value) {
                free[0] = 1;
            }

            @Override
            public void onDisconnected(long connection, long context) {
                connected[0] = 0;
            }

            @Override
            public void onPeerLost(long connection, long context, String reason) {
                connected[0] = 0;
            }
        };
    }

    /**
     * What follows the fixed fields is noise; its length. No REGISTER: who can register is a
     * process of this user like any other, and is trusted.
     */
    private static int record(UnsafeBuffer bytes, UUID job, SplittableRandom random) {
        bytes.putInt(0, MAGIC, ByteOrder.LITTLE_ENDIAN);
        int type = random.nextInt(FIRST_TYPE, TYPE_END);
        bytes.putShort(4, (short) type, ByteOrder.LITTLE_ENDIAN);
        bytes.putShort(6, (short) 1, ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(8, job.getMostSignificantBits(), ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(16, job.getLeastSignificantBits(), ByteOrder.LITTLE_ENDIAN);
        // Small numbers get further than large ones.
        bytes.putInt(24, random.nextInt(5), ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(28, random.nextInt(3), ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(32, random.nextInt(100), ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(40, random.nextInt(3), ByteOrder.LITTLE_ENDIAN);
        byte[] record = new byte[CRC_OFFSET];
        bytes.getBytes(0, record);
        CRC32C crc = new CRC32C();
        crc.update(record);
        bytes.putInt(CRC_OFFSET, (int) crc.getValue(), ByteOrder.LITTLE_ENDIAN);
        return RECORD_LENGTH + random.nextInt(2) * random.nextInt(900);
    }
}
