package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Hand;
import dev.verbena.dart.TicketState;
import dev.verbena.dart.config.Assignments;
import dev.verbena.dart.wire.ConnectNote;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client against a server played by the test, which sees and sends every record itself. */
@Timeout(180)
class ThirdPartyPullTest {
    private static final UUID JOB = new UUID(3, 4);

    private static void until(
            String what, DartClient client, BooleanSupplier condition, Hand... hands) {
        Await.until(
                what,
                () -> {
                    client.progress();
                    for (Hand hand : hands) {
                        hand.transport.poll(hand, 16);
                    }
                    return condition.getAsBoolean();
                });
    }

    @Test
    @Tag("dart-D15")
    void shouldCompleteWhenAnotherServerPulls() throws Exception {
        try (DartWorld world = new DartWorld("shm");
                Hand target = new Hand(world);
                Hand other = new Hand(world)) {
            Files.writeString(
                    Path.of(world.configurationFile()),
                    new DartConfiguration(
                                    JOB, System.currentTimeMillis(), target.transport.uri(), 1, 1)
                            .encode());
            DartClient client = DartClient.start(world.clientContext(0));
            ControlFlyweight in = new ControlFlyweight();
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            until("register", client, () -> target.messages == 1, target);
            in.wrap(target.last, 0, target.lastLength);
            assertThat(in.type()).isEqualTo(ControlFlyweight.REGISTER);
            assertThat(in.isOfJob(JOB)).isTrue();
            out.begin(record, 0, ControlFlyweight.WELCOME, JOB)
                    .welcome(7, 0, ControlFlyweight.RESULT_OK, 1)
                    .welcomeLimits(1 << 20, 1, AckMode.DELIVERED)
                    .end();
            URI clientUri = in.registration().uri();
            target.send(record);
            until("connected", client, client::isConnected, target);

            UnsafeBuffer data = DartWorld.bytes(5000, 15);
            DartTicket ticket = client.sendCopy(data, 0, 5000, new DartMetadata().name("x"), 3);
            until("header", client, () -> target.messages == 2, target);
            in.wrap(target.last, 0, target.lastLength);
            RemoteDescriptor descriptor = new RemoteDescriptor();
            in.descriptorInto(descriptor);

            UnsafeBuffer note = new UnsafeBuffer(new byte[ConnectNote.LENGTH]);
            int noteLength =
                    ConnectNote.encode(note, JOB, other.transport.limits().privateDataLengthMax());
            other.transport.connect(clientUri, note, 0, noteLength, 0, DartWorld.LIMIT_NS);
            until("other is connected", client, () -> other.isConnected, target, other);
            assertThat(
                            other.transport.get(
                                    other.connection, other.region, 0, descriptor, 0, 5000, 0, 0))
                    .isZero();
            until("pulled", client, () -> other.completions == 1, target, other);
            assertThat(other.lastStatus).isZero();
            byte[] pulled = new byte[5000];
            other.region.buffer(0, 5000).getBytes(0, pulled);
            assertThat(pulled).isEqualTo(data.byteArray());
            assertThat(ticket.state()).isEqualTo(TicketState.HEADER_SENT);

            out.begin(record, 0, ControlFlyweight.DONE, JOB).done(7, 1, 1, 0, 1).end();
            target.send(record);
            until("told", client, () -> ticket.state() == TicketState.TRANSFERRED, target);
            out.begin(record, 0, ControlFlyweight.DONE, JOB).done(7, 1, 2, 0, 0).end();
            target.send(record);
            until("told", client, () -> ticket.state() == TicketState.STREAMED, target);
            client.close(0);
            until("no operation is under way", client, () -> target.completions == 3, target);
        }
    }

    /** Nothing that a server may send leads to anything but an error that is reported. */
    @Test
    void shouldSurviveHostileRecords() throws Exception {
        try (DartWorld world = new DartWorld("shm");
                Hand target = new Hand(world)) {
            Files.writeString(
                    Path.of(world.configurationFile()),
                    new DartConfiguration(JOB, 1, target.transport.uri(), 1, 1).encode());
            DartClient client = DartClient.start(world.clientContext(0));
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            until("register", client, () -> target.messages == 1, target);
            out.begin(record, 0, ControlFlyweight.WELCOME, JOB)
                    .welcome(7, 0, 0, 1)
                    .welcomeLimits(1 << 20, 1, AckMode.DELIVERED)
                    .end();
            target.send(record);
            until("connected", client, client::isConnected, target);
            java.util.SplittableRandom random = new java.util.SplittableRandom(99);
            for (int i = 0; i < 2000; i++) {
                out.begin(record, 0, 1 + random.nextInt(16), JOB)
                        .done(
                                7,
                                random.nextLong() >>> random.nextInt(64),
                                random.nextInt(4),
                                random.nextInt(9),
                                random.nextInt(3));
                for (int j = random.nextInt(3); j > 0; j--) {
                    record.putByte(24 + random.nextInt(100), (byte) random.nextInt());
                }
                // GOODBYE would rightly end the sending below.
                if (record.getByte(4) == ControlFlyweight.GOODBYE) {
                    continue;
                }
                out.end();
                int before = target.completions;
                target.send(record);
                until("sent", client, () -> target.completions > before, target);
            }
            DartTicket ticket = client.sendCopy(DartWorld.bytes(10, 1), 0, 10, null, 1);
            int before = target.messages;
            until("header", client, () -> target.messages > before, target);
            assertThat(ticket.state()).isEqualTo(TicketState.HEADER_SENT);
            assertThat(world.errors).isNotEmpty().allMatch(e -> e instanceof DartException);
            out.begin(record, 0, ControlFlyweight.DONE, JOB).done(7, 1, 1, 0, 1).end();
            target.send(record);
            out.begin(record, 0, ControlFlyweight.DONE, JOB).done(7, 1, 2, 0, 0).end();
            until("told", client, () -> ticket.state() == TicketState.TRANSFERRED, target);
            target.send(record);
            until("told", client, () -> ticket.state() == TicketState.STREAMED, target);
            client.close(0);
            for (int i = 0; i < 100; i++) {
                target.transport.poll(target, 16);
            }
        }
    }

    /** The place of a peer that was forgotten may be another's when the transport speaks of it. */
    @Test
    void shouldForgetAConnectionOfAProcessThatItsMasterTookBack() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive();
                Hand master = new Hand(world);
                Hand slow = new Hand(world);
                Hand quick = new Hand(world)) {
            Files.writeString(
                    Path.of(world.configurationFile()),
                    new DartConfiguration(
                                    JOB, System.currentTimeMillis(), master.transport.uri(), 2, 1)
                            .encode());
            DartServer slave = world.slave();
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            Hand[] all = {master, slow, quick};
            until("registers", () -> master.messages == 1, all);
            out.begin(record, 0, ControlFlyweight.WELCOME, JOB)
                    .welcome(0, 1, ControlFlyweight.RESULT_OK, 0)
                    .welcomeLimits(1 << 20, 1, AckMode.DELIVERED)
                    .end();
            master.send(record);
            until("a slave", slave::isReady, all);
            slow.isHesitating = true;
            for (int i = 0; i < 2; i++) {
                out.begin(record, 0, ControlFlyweight.FORWARD, JOB)
                        .registration()
                        .write(ControlFlyweight.ROLE_DELEGATED, 1, i, 0, all[1 + i].transport.uri())
                        .registration()
                        .assigned(1 + i, 0)
                        .end();
                master.send(record);
                Hand asked = all[1 + i];
                until("is connected to", () -> asked.offered != 0, all);
                if (i == 0) {
                    int before = master.completions;
                    out.begin(record, 0, ControlFlyweight.GOODBYE, JOB)
                            .goodbye(1, 0, ControlFlyweight.RESULT_OK)
                            .end();
                    master.send(record);
                    until("sent", () -> master.completions > before, all);
                }
            }
            until("connected", () -> quick.isConnected, all);
            slow.transport.accept(slow.offered, 0);
            for (int i = 0; i < 50; i++) {
                until("time", () -> true, all);
                TimeUnit.MILLISECONDS.sleep(2);
            }
            assertThat(slow.isConnected).isFalse();
            assertThat(quick.isConnected).isTrue();
            assertThat(world.errors).allMatch(e -> e instanceof DartException);
        }
    }

    /** Numbers of messages depend on it: 22 bits that a slow slave would use up. */
    @Test
    @Tag("dart-D8")
    void shouldCountARegistrationOnceHoweverLongASlaveTakesNothing() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive();
                Hand slave = new Hand(world);
                Hand process = new Hand(world)) {
            DartServer master = world.master(c -> c.serverCount(2));
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            for (Hand hand : List.of(slave, process)) {
                master.awaitReady(DartWorld.LIMIT_NS);
                hand.transport.connect(
                        master.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, 5_000_000_000L);
                until("connected", () -> hand.isConnected, hand);
            }
            register(out, record, master, ControlFlyweight.ROLE_SLAVE, 0, slave);
            slave.send(record);
            until("a slave", () -> slave.messages == 1, slave);
            int count = 80;
            for (int rank = 0; rank < count; rank++) {
                register(out, record, master, ControlFlyweight.ROLE_CLIENT, rank, process);
                int before = process.completions;
                until("sent", () -> process.isSent(record), process);
                until("there", () -> process.completions > before, process);
            }
            // The slave's slots are full, and the master tries again and again.
            TimeUnit.MILLISECONDS.sleep(300);
            ControlFlyweight in = new ControlFlyweight();
            for (int i = 0; i < count / 2; i++) {
                int before = slave.messages;
                until(
                        "forwarded",
                        () -> {
                            slave.transport.poll(slave, 1);
                            return slave.messages > before;
                        },
                        process);
                in.wrap(slave.last, 0, slave.lastLength);
                assertThat(in.type()).isEqualTo(ControlFlyweight.FORWARD);
                assertThat(in.registration().generation()).isZero();
            }
        }
    }

    private static void register(
            ControlFlyweight out,
            UnsafeBuffer record,
            DartServer master,
            int role,
            int rank,
            Hand of) {
        out.begin(record, 0, ControlFlyweight.REGISTER, master.serviceId())
                .registration()
                .write(role, 1, rank, 0, of.transport.uri());
        out.end();
    }

    /** What a dead master is owed keeps nobody from ending. */
    @Test
    @Tag("dart-F14")
    void shouldStopInOrderAlthoughTheMasterForWhichItPulledIsGone() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (DartWorld world = new DartWorld("shm").receive();
                Hand process = new Hand(world)) {
            DartServer slave;
            try (Hand master = new Hand(world)) {
                world.onMessage = () -> awaitQuietly(go);
                Files.writeString(
                        Path.of(world.configurationFile()),
                        new DartConfiguration(
                                        JOB,
                                        System.currentTimeMillis(),
                                        master.transport.uri(),
                                        2,
                                        1)
                                .encode());
                slave = world.slave();
                ControlFlyweight out = new ControlFlyweight();
                UnsafeBuffer record = new UnsafeBuffer(new byte[1024]);
                Hand[] all = {master, process};
                until("registers", () -> master.messages == 1, all);
                out.begin(record, 0, ControlFlyweight.WELCOME, JOB)
                        .welcome(0, 1, ControlFlyweight.RESULT_OK, 0)
                        .welcomeLimits(1 << 20, 1, AckMode.DELIVERED)
                        .end();
                master.send(record);
                until("a slave", slave::isReady, all);
                out.begin(record, 0, ControlFlyweight.FORWARD, JOB)
                        .registration()
                        .write(ControlFlyweight.ROLE_DELEGATED, 1, 0, 0, process.transport.uri())
                        .registration()
                        .assigned(1, 0)
                        .end();
                master.send(record);
                until("connected", () -> process.isConnected, all);
                int length =
                        new DartMetadata()
                                .name("n")
                                .payload(0, false, 0)
                                .encode(record, ControlFlyweight.LENGTH);
                out.begin(record, 0, ControlFlyweight.HEADER, JOB)
                        .header(1, 1, 0, 0, 0)
                        .headerData(0, length, 0)
                        .end();
                master.send(record, ControlFlyweight.LENGTH + length);
                // It is read, but not confirmed.
                until("done", () -> master.messages == 2, all);
            }
            go.countDown();
            Await.until(
                    () -> "confirmed: " + slave.statistics(),
                    () -> slave.statistics().emptyCount() == 4);
            slave.requestStop();
            assertThat(slave.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            assertThat(slave.lostMessages()).isEmpty();
            assertThat(world.received).hasSize(1);
        } finally {
            go.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch go) {
        try {
            go.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void until(String what, BooleanSupplier condition, Hand... hands) {
        Await.until(
                what,
                () -> {
                    for (Hand hand : hands) {
                        hand.transport.poll(hand, 16);
                    }
                    return condition.getAsBoolean();
                });
    }

    @Test
    void shouldNotBeStoppedByAnybodyWhoCallsHimselfASlave() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive();
                Hand hostile = new Hand(world)) {
            DartServer master = world.master(c -> c.serverCount(1));
            DartClient client = world.client(0);
            hostile.transport.connect(
                    master.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, 5_000_000_000L);
            until("connected", client, () -> hostile.isConnected, hostile);
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            out.begin(record, 0, ControlFlyweight.REGISTER, master.serviceId())
                    .registration()
                    .write(ControlFlyweight.ROLE_SLAVE, 0, 0, 0, hostile.transport.uri());
            out.end();
            hostile.send(record);
            until("welcome", client, () -> hostile.messages > 0, hostile);
            out.begin(record, 0, ControlFlyweight.STOP, master.serviceId()).stop(true).end();
            hostile.send(record);
            until("an error", client, () -> !world.errors.isEmpty(), hostile);
            assertThat(world.errors.get(0)).hasMessageContaining("stoppableByClients");
            client.sendCopy(DartWorld.bytes(100, 1), 0, 100, null, 1)
                    .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
            assertThat(master.isReady()).isTrue();
        }
    }

    /** Nothing that a process may send keeps a server from serving others. */
    @Test
    void shouldSurviveHostileRecordsAtAServer() throws Exception {
        try (DartWorld world = new DartWorld("shm").receive();
                Hand hostile = new Hand(world)) {
            DartServer master = world.master(c -> c.serverCount(1).delegate(true));
            DartClient client = world.client(0);
            ControlFlyweight out = new ControlFlyweight();
            UnsafeBuffer record = new UnsafeBuffer(new byte[128]);
            // It is a client itself for the second half.
            java.util.SplittableRandom random = new java.util.SplittableRandom(98);
            for (int i = 0; i < 2000; i++) {
                if (i == 1000) {
                    out.begin(record, 0, ControlFlyweight.REGISTER, master.serviceId())
                            .registration()
                            .write(1, 1, 7, 3, hostile.transport.uri());
                } else {
                    out.begin(record, 0, 1 + random.nextInt(16), master.serviceId())
                            .done(
                                    random.nextBoolean()
                                            ? client.clientId()
                                            : Assignments.minimumId(3),
                                    random.nextLong() >>> random.nextInt(64),
                                    random.nextInt(4),
                                    random.nextInt(9),
                                    random.nextInt(3));
                    for (int j = random.nextInt(3); j > 0; j--) {
                        record.putByte(24 + random.nextInt(100), (byte) random.nextInt());
                    }
                }
                out.end();
                if (!hostile.isConnected) {
                    // The server may end such a connection; it is made again.
                    hostile.transport.connect(
                            master.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 0, 5_000_000_000L);
                    until("connected", client, () -> hostile.isConnected, hostile);
                }
                int before = hostile.completions;
                if (hostile.isSent(record)) {
                    until("sent", client, () -> hostile.completions > before, hostile);
                }
                hostile.transport.poll(hostile, 16);
                if (i % 100 == 0) {
                    client.sendCopy(DartWorld.bytes(100, i), 0, 100, null, i)
                            .await(TicketState.STREAMED, DartWorld.LIMIT_NS);
                }
            }
            assertThat(world.received).hasSize(20);
            assertThat(master.isReady()).isTrue();
            assertThat(master.failure()).isNull();
            assertThat(world.errors).isNotEmpty().allMatch(e -> e instanceof DartException);
        }
    }
}
