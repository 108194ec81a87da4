package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A spilled message whose file was damaged: its process hears of it, and of nothing else; one small
 * subclass for each provider names the scheme.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
public abstract class DartSpillLossContract {
    private static final int LENGTH = 90_000;

    /** For subclasses in other modules. */
    protected DartSpillLossContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private static DartTicket send(DartClient client, int tag, int length) {
        return client.sendCopy(
                DartWorld.bytes(length, tag), 0, length, new DartMetadata().name("m" + tag), tag);
    }

    /** Changes a byte of what was spilled of this message. */
    private static void damage(Path spill, int tag, int length) throws Exception {
        byte[] wanted = Arrays.copyOf(DartWorld.bytes(length, tag).byteArray(), 64);
        List<Path> files;
        try (Stream<Path> all = Files.list(spill)) {
            files = all.filter(path -> path.toString().endsWith(".frames")).toList();
        }
        for (Path file : files) {
            byte[] bytes = Files.readAllBytes(file);
            for (int at = 0; at + wanted.length <= bytes.length; at++) {
                if (Arrays.mismatch(bytes, at, at + wanted.length, wanted, 0, wanted.length) < 0) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.write(ByteBuffer.wrap(new byte[] {(byte) ~bytes[at]}), at);
                    }
                    return;
                }
            }
        }
        throw new AssertionError("message " + tag + " is in none of " + files);
    }

    private static void poll(DartClient client) {
        client.wouldBlock();
        client.unconfirmed();
    }

    private void startReceiver(DartWorld world) {
        world.receive(world.receiverContext().listen(world.receiverAt()));
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false"})
    @Tag("dart-F7")
    void shouldFailTheTicketBeforeLaterOnesAreConfirmed(boolean isDelegated, boolean isReassigned)
            throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.receiver.close();
            Path spill = world.directory.resolve("spill");
            DartServer master =
                    world.master(
                            c ->
                                    c.spill(spill.toString(), 1 << 28)
                                            .serverCount(isDelegated ? 2 : 1)
                                            .delegate(isDelegated));
            DartServer puller = master;
            if (isDelegated) {
                puller = world.slave(c -> c.spill(spill.toString(), 1 << 28));
            }
            master.awaitReady(DartWorld.LIMIT_NS);
            DartClient client = world.client(0, c -> c.reassign(isReassigned).unconfirmedMax(16));
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                tickets.add(send(client, i, LENGTH));
            }
            DartServer spilling = puller;
            Await.until(
                    () -> "all spilled: " + spilling.spill() + world.errors,
                    () -> {
                        poll(client);
                        return spilling.spill().messageCount() == 6;
                    });
            damage(spill, 2, LENGTH);
            startReceiver(world);
            Await.until(
                    () -> "confirmed: " + tickets + world.errors,
                    () -> {
                        poll(client);
                        boolean isLaterConfirmed = tickets.get(3).state() == TicketState.STREAMED;
                        if (isLaterConfirmed) {
                            assertThat(tickets.get(2).state()).isEqualTo(TicketState.FAILED);
                        }
                        return tickets.get(5).state() == TicketState.STREAMED;
                    });
            assertThat(tickets.get(2).failureCode()).isEqualTo(DartException.Code.TRANSFER_FAILED);
            assertThat(tickets.get(2).failure()).contains("spilled");
            tickets.remove(2);
            assertThat(tickets).allMatch(ticket -> ticket.state() == TicketState.STREAMED);
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(0, 1, 3, 4, 5);
            Await.until(
                    "files gone",
                    () ->
                            spilling.spill().fileCount() == 0
                                    && spilling.spill().messageCount() == 0);
            send(client, 9, LENGTH).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
        }
    }

    /** Half of it is on disk, the rest still in the process. */
    @Test
    @Tag("dart-F7")
    void shouldFailAMessageOfWhichTheRestIsStillToBeRead() throws Exception {
        int length = 2_000_000;
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            world.receiver.close();
            Path spill = world.directory.resolve("spill");
            DartServer master = world.master(c -> c.spill(spill.toString(), 1 << 20));
            master.awaitReady(DartWorld.LIMIT_NS);
            DartClient client = world.client(0);
            DartTicket half = send(client, 1, length);
            Await.until(
                    () -> "the limit: " + world.errors,
                    () ->
                            world.errors.stream()
                                    .anyMatch(e -> e.getMessage().contains("limit of 1048576")));
            assertThat(half.state()).isEqualTo(TicketState.HEADER_SENT);
            damage(spill, 1, length);
            startReceiver(world);
            Await.until(
                    () -> "failed: " + half + world.errors,
                    () -> {
                        poll(client);
                        return half.state() == TicketState.FAILED;
                    });
            assertThat(half.failureCode()).isEqualTo(DartException.Code.TRANSFER_FAILED);
            for (int i = 2; i < 8; i++) {
                send(client, i, LENGTH).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            }
            assertThat(world.received)
                    .extracting(DartWorld.Received::tag)
                    .containsExactly(2, 3, 4, 5, 6, 7);
        }
    }
}
