package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.wire.ControlFlyweight;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Messages that the receiver would refuse fail by name and hold up nothing behind them; one small
 * subclass for each provider names the scheme.
 */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
public abstract class DartRefusalContract {
    private static final int LIMIT = 100_000;

    /** For subclasses in other modules. */
    protected DartRefusalContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private static DartTicket send(DartClient client, int tag, int length) {
        return client.sendCopy(
                DartWorld.bytes(length, tag), 0, length, new DartMetadata().name("m" + tag), tag);
    }

    private static void poll(DartClient client) {
        client.wouldBlock();
        client.unconfirmed();
    }

    private static void startLimited(DartWorld world) {
        world.receive(world.receiverContext().messageLengthMax(LIMIT).listen(world.receiverAt()));
    }

    /** Every ticket is final; those longer than the limit failed, the others arrived, in order. */
    private static void awaitFates(DartWorld world, DartClient client, List<DartTicket> tickets) {
        Await.until(
                () -> "all final: " + tickets + world.errors,
                () -> {
                    poll(client);
                    return tickets.stream()
                            .allMatch(
                                    ticket ->
                                            ticket.state() == TicketState.STREAMED
                                                    || ticket.state() == TicketState.FAILED);
                });
    }

    private static void shouldHaveFailed(DartWorld world, DartTicket ticket) {
        assertThat(ticket.state()).isEqualTo(TicketState.FAILED);
        assertThat(ticket.failureCode()).isEqualTo(DartException.Code.TOO_LONG);
        assertThat(ticket.failure()).contains("messageLengthMax");
        assertThat(world.errors)
                .anyMatch(e -> e.getMessage().contains("messageLengthMax of the receiver is"));
    }

    private static void shouldHaveReceived(DartWorld world, int... tags) {
        assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(box(tags));
        for (DartWorld.Received message : world.received) {
            assertThat(message.payload())
                    .isEqualTo(
                            DartWorld.bytes(message.payload().length, message.tag()).byteArray());
        }
        assertThat(world.receiver.statistics().protocolErrorCount()).isZero();
    }

    private static Integer[] box(int[] numbers) {
        Integer[] boxed = new Integer[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            boxed[i] = numbers[i];
        }
        return boxed;
    }

    private static void shouldHaveAllBuffers(DartServer server) {
        Await.until(
                () -> "buffers are back: " + server.statistics(),
                () -> server.statistics().emptyCount() == 4);
    }

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false"})
    @Tag("dart-F16")
    void shouldFailWhatIsTooLongAndDeliverTheRest(boolean isDelegated, boolean isReassigned)
            throws Exception {
        try (DartWorld world = new DartWorld(scheme())) {
            world.receive(world.receiverContext().messageLengthMax(LIMIT));
            DartServer master =
                    world.master(c -> c.serverCount(isDelegated ? 2 : 1).delegate(isDelegated));
            DartServer puller = isDelegated ? world.slave() : master;
            master.awaitReady(DartWorld.LIMIT_NS);
            DartClient client = world.client(0, c -> c.reassign(isReassigned).unconfirmedMax(16));
            int[] lengths = {LIMIT, LIMIT + 1, 5, 3_000_000, 0, 70_000, LIMIT + 1, LIMIT};
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < lengths.length; i++) {
                tickets.add(send(client, i, lengths[i]));
            }
            awaitFates(world, client, tickets);
            for (int failed : new int[] {1, 3, 6}) {
                shouldHaveFailed(world, tickets.get(failed));
            }
            shouldHaveReceived(world, 0, 2, 4, 5, 7);
            assertThat(puller.statistics().failedCount()).isEqualTo(3);
            shouldHaveAllBuffers(puller);
        }
    }

    /** The server learns what the receiver takes when it already has the messages. */
    @ParameterizedTest
    @CsvSource({"false", "true"})
    @Tag("dart-F7")
    void shouldFailWhatIsTooLongForAReceiverThatComesLater(boolean isSpilling) throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            Path spill = world.directory.resolve("spill");
            DartServer master =
                    world.master(
                            c -> {
                                c.bufferSize(200 * 1024);
                                if (isSpilling) {
                                    c.spill(spill.toString(), 1 << 28);
                                }
                            });
            DartClient client = world.client(0, c -> c.maxInFlight(8));
            world.receiver.close();
            int[] lengths = {5_000, LIMIT + 1, 6_000, LIMIT + 50_000};
            List<DartTicket> tickets = new ArrayList<>();
            for (int i = 0; i < lengths.length; i++) {
                tickets.add(send(client, i, lengths[i]));
            }
            TicketState reached = isSpilling ? TicketState.SPILLED : TicketState.TRANSFERRED;
            Await.until(
                    () -> "at the server: " + tickets + world.errors,
                    () -> {
                        poll(client);
                        return tickets.stream().allMatch(ticket -> ticket.state() == reached);
                    });
            startLimited(world);
            tickets.add(send(client, 4, LIMIT));
            awaitFates(world, client, tickets);
            shouldHaveFailed(world, tickets.get(1));
            shouldHaveFailed(world, tickets.get(3));
            shouldHaveReceived(world, 0, 2, 4);
            shouldHaveAllBuffers(master);
            if (isSpilling) {
                Await.until("files gone", () -> master.spill().fileCount() == 0);
            }
        }
    }

    /** Most of it is still in its process when the server learns what the receiver takes. */
    @Test
    @Tag("dart-F7")
    void shouldFailALongMessageOfWhichTheRestIsStillToBeRead() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive()) {
            DartServer master = world.master();
            DartClient client = world.client(0);
            world.receiver.close();
            List<DartTicket> tickets = new ArrayList<>();
            tickets.add(send(client, 0, 2_000_000));
            Await.until(
                    () -> "all buffers are full: " + master.statistics(),
                    () -> master.statistics().emptyCount() == 0);
            startLimited(world);
            for (int i = 1; i < 5; i++) {
                tickets.add(send(client, i, 90_000));
            }
            awaitFates(world, client, tickets);
            shouldHaveFailed(world, tickets.get(0));
            shouldHaveReceived(world, 1, 2, 3, 4);
            shouldHaveAllBuffers(master);
        }
    }

    /** A process whose metadata make no sense cannot stop the stream of its server. */
    @Test
    void shouldRefuseMetadataThatTheReceiverCouldNotRead() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive();
                Hand hostile = new Hand(world)) {
            DartServer master = world.master(c -> c.serverCount(1));
            DartClient client = world.client(0);
            int id = register(hostile, master);
            for (int kind = 0; kind < 6; kind++) {
                int before = hostile.messages;
                nonsense(hostile, master, id, kind);
                ControlFlyweight answer = new ControlFlyweight();
                Await.until(
                        "refused, kind " + kind,
                        () -> {
                            hostile.transport.poll(hostile, 16);
                            return hostile.messages > before;
                        });
                answer.wrap(hostile.last, 0, hostile.lastLength);
                assertThat(answer.type()).isEqualTo(ControlFlyweight.DONE);
                assertThat(answer.result()).isEqualTo(ControlFlyweight.RESULT_MALFORMED);
                send(client, kind, 1000).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            }
            shouldHaveReceived(world, 0, 1, 2, 3, 4, 5);
            hostile.transport.disconnect(hostile.connection);
        }
    }

    /** Nobody is served before all servers are there: what waits until then is bounded. */
    @Test
    void shouldBoundTheRegistrationsThatWait() throws Exception {
        try (DartWorld world = new DartWorld(scheme()).receive();
                Hand hostile = new Hand(world)) {
            DartServer master = world.master(c -> c.serverCount(2));
            master.awaitReady(DartWorld.LIMIT_NS);
            connect(hostile, master);
            for (int rank = 0; rank < 140; rank++) {
                int before = hostile.completions;
                sendRegister(hostile, master, rank);
                Await.until(
                        "sent",
                        () -> {
                            hostile.transport.poll(hostile, 16);
                            return hostile.completions > before;
                        });
            }
            Await.until(
                    () -> "an error: " + world.errors,
                    () ->
                            world.errors.stream()
                                    .anyMatch(e -> e.getMessage().contains("registers again")));
            world.slave();
            DartClient client = world.client(0);
            send(client, 1, 1000).await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(client.clientId()).isEqualTo(1);
            int last = world.client(1).clientId();
            assertThat(last).isEqualTo(2);
            hostile.transport.disconnect(hostile.connection);
        }
    }

    private static int register(Hand hostile, DartServer master) {
        connect(hostile, master);
        sendRegister(hostile, master, 7);
        Await.until(
                "welcome",
                () -> {
                    hostile.transport.poll(hostile, 16);
                    return hostile.messages > 0;
                });
        ControlFlyweight welcome = new ControlFlyweight();
        welcome.wrap(hostile.last, 0, hostile.lastLength);
        assertThat(welcome.type()).isEqualTo(ControlFlyweight.WELCOME);
        return welcome.clientId();
    }

    private static void connect(Hand hostile, DartServer master) {
        hostile.transport.connect(
                master.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, 30_000_000_000L);
        Await.until(
                "connected",
                () -> {
                    hostile.transport.poll(hostile, 16);
                    return hostile.isConnected;
                });
    }

    private static void sendRegister(Hand hostile, DartServer master, int rank) {
        ControlFlyweight out = new ControlFlyweight();
        UnsafeBuffer record = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH]);
        out.begin(record, 0, ControlFlyweight.REGISTER, master.serviceId())
                .registration()
                .write(ControlFlyweight.ROLE_CLIENT, 8, rank, 3, hostile.transport.uri());
        out.end();
        Await.until(
                "sent",
                () -> {
                    hostile.transport.poll(hostile, 16);
                    return hostile.isSent(record);
                });
    }

    /** A header that is sound, before a metadata block that is not. */
    private static void nonsense(Hand hostile, DartServer master, int id, int kind) {
        UnsafeBuffer record = new UnsafeBuffer(new byte[1024]);
        int at = ControlFlyweight.LENGTH;
        int length = new DartMetadata().name("n").variable("v").shape(3, 4).encode(record, at);
        switch (kind) {
            case 0 -> record.putByte(at + 5, (byte) 99); // element type
            case 1 -> record.putLong(at + 16, 100, java.nio.ByteOrder.LITTLE_ENDIAN);
            case 2 -> record.putLong(at + 40, -1); // an extent
            case 3 -> record.putByte(at + 6, (byte) 8); // more dimensions than there is room for
            case 4 -> record.putShort(at + 56, (short) -1); // length of the name
            default -> length += 8; // more than the block says
        }
        new ControlFlyweight()
                .begin(record, 0, ControlFlyweight.HEADER, master.serviceId())
                .header(id, kind + 1, 0, 0, 0)
                .headerData(0, length, 0)
                .end();
        hostile.send(record, at + length);
    }
}
