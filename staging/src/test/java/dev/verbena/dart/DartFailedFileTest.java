package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.verbena.agent.Await;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A file that cannot be stored, and others behind it that can: found by the chaos test. */
@Timeout(120)
class DartFailedFileTest {
    private static final int FULL_AT = 500_000;

    private static final String CANNOT_STORE =
            "file first cannot be stored: writing first failed: no space left";

    private final AtomicInteger failures = new AtomicInteger();
    private volatile int failureLimit = 3;

    /** The device takes nothing of the first message; empty files need no room on it. */
    private DurableStore failing(DurableStore store) {
        return (DurableStore)
                Proxy.newProxyInstance(
                        DurableStore.class.getClassLoader(),
                        new Class<?>[] {DurableStore.class},
                        (proxy, method, arguments) -> {
                            Object answer = invoke(store, method, arguments);
                            boolean isFirst =
                                    method.getName().matches("create|append")
                                            && arguments[0].toString().matches(".*-1-1-[0-9]+");
                            return isFirst && failures.get() < failureLimit
                                    ? failing(
                                            (DurableStore.DurableFile) answer,
                                            arguments[0].toString())
                                    : answer;
                        });
    }

    private DurableStore.DurableFile failing(DurableStore.DurableFile file, String name) {
        failures.incrementAndGet();
        boolean[] isForced = new boolean[1];
        return (DurableStore.DurableFile)
                Proxy.newProxyInstance(
                        DurableStore.class.getClassLoader(),
                        new Class<?>[] {DurableStore.DurableFile.class},
                        (proxy, method, arguments) -> {
                            isForced[0] |= method.getName().equals("force");
                            if (method.getName().equals("error") && isForced[0]) {
                                return "writing " + name + " failed: no space left";
                            }
                            return invoke(file, method, arguments);
                        });
    }

    private static Object invoke(Object target, java.lang.reflect.Method method, Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Test
    void shouldNotLetALaterMessageOvertakeOneWhoseFileFailed() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            Environment environment = new FailingStore(world.environment);
            world.receive(
                    world.receiverContext().environment(environment).directory(out.toString()));
            world.master();
            DartClient client = world.client(0, c -> c.maxInFlight(4));
            UnsafeBuffer data = DartWorld.bytes(3000, 1);
            client.sendCopy(data, 0, 3000, new DartMetadata().name("first"), 1);
            client.sendCopy(data, 0, 0, new DartMetadata().name("empty"), 2);
            client.sendCopy(data, 0, 100, new DartMetadata().name("third"), 3);
            client.flush(DartWorld.LIMIT_NS);
            assertThat(failures.get()).isEqualTo(3);
            // The server hears it, too.
            assertThat(world.errors)
                    .anyMatch(e -> e.getMessage().contains("it says: " + CANNOT_STORE))
                    .noneMatch(e -> e.getMessage().contains(".receiving-"));
            assertThat(Files.readAllBytes(out.resolve("first"))).isEqualTo(data.byteArray());
            assertThat(Files.readAllBytes(out.resolve("third"))).hasSize(100);
            assertThat(out.resolve("empty")).isEmptyFile();
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(1, 2, 3);
        }
    }

    @Test
    void shouldTellWhoWaitsWhyNothingIsStored() throws Exception {
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            Environment environment = new FailingStore(world.environment);
            failureLimit = Integer.MAX_VALUE;
            world.receive(
                    world.receiverContext().environment(environment).directory(out.toString()));
            world.master(c -> c.heartbeatNs(20_000_000));
            DartClient client = world.client(0);
            UnsafeBuffer data = DartWorld.bytes(3000, 1);
            DartTicket ticket = client.sendCopy(data, 0, 3000, new DartMetadata().name("first"), 1);
            String[] heard = {""};
            Await.until(
                    () -> "the cause in: " + heard[0],
                    () -> {
                        heard[0] = timeOut(() -> ticket.await(TicketState.STREAMED, 50_000_000));
                        return heard[0].contains("('first', ") && heard[0].endsWith(CANNOT_STORE);
                    });
            assertThat(timeOut(() -> client.flush(0))).endsWith(CANNOT_STORE);
            failureLimit = 0;
            client.flush(DartWorld.LIMIT_NS);
        }
    }

    /** Every buffer of the server has a part of it, and not all of it was read. */
    @Test
    void shouldStoreALaterMessageBehindTheHalfOfADeadProcess() throws Exception {
        int length = 1_000_000;
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            failureLimit = Integer.MAX_VALUE;
            world.receive(
                    world.receiverContext()
                            .environment(new FailingStore(world.environment))
                            .directory(out.toString()));
            DartServer master = world.master();
            DartClient dead = world.client(0);
            DartClient other = world.client(1);
            UnsafeBuffer data = DartWorld.bytes(length, 1);
            dead.sendCopy(data, 0, length, new DartMetadata().name("first"), 1);
            Await.until(
                    "refused", () -> failures.get() > 1 && master.statistics().emptyCount() == 0);
            world.clients.remove(dead);
            assertThatThrownBy(() -> dead.close(0)).hasMessageContaining("'first'");
            other.sendCopy(data, 0, 100, new DartMetadata().name("second"), 2);
            other.flush(DartWorld.LIMIT_NS);
            assertThat(Files.readAllBytes(out.resolve("second"))).hasSize(100);
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(2);
            Await.until(
                    () -> "named: " + world.errors,
                    () -> hasReport(world, "message 1 of client 1 ", "its process is gone"));
            Await.until("all are back", () -> master.statistics().emptyCount() == 4);
            assertThat(out.resolve("first")).doesNotExist();
        }
    }

    private static boolean hasReport(DartWorld world, String begin, String end) {
        return world.errors.stream()
                .anyMatch(e -> e.getMessage().startsWith(begin) && e.getMessage().endsWith(end));
    }

    private static String timeOut(org.assertj.core.api.ThrowableAssert.ThrowingCallable waiting) {
        DartException e = catchThrowableOfType(DartException.class, waiting);
        assertThat(e.code()).isEqualTo(DartException.Code.TIMEOUT);
        return e.getMessage();
    }

    /** Beyond so many bytes the device is full, once. */
    private DurableStore fullLater(DurableStore store) {
        return (DurableStore)
                Proxy.newProxyInstance(
                        DurableStore.class.getClassLoader(),
                        new Class<?>[] {DurableStore.class},
                        (proxy, method, arguments) -> {
                            Object answer = invoke(store, method, arguments);
                            boolean isFirst =
                                    method.getName().equals("create")
                                            && arguments[0].toString().matches(".*-1-1-[0-9]+");
                            return isFirst && failures.get() == 0
                                    ? fullLater((DurableStore.DurableFile) answer)
                                    : answer;
                        });
    }

    private DurableStore.DurableFile fullLater(DurableStore.DurableFile file) {
        return (DurableStore.DurableFile)
                Proxy.newProxyInstance(
                        DurableStore.class.getClassLoader(),
                        new Class<?>[] {DurableStore.DurableFile.class},
                        (proxy, method, arguments) -> {
                            boolean isAppend = method.getName().startsWith("append");
                            boolean isFull = isAppend && file.position() > FULL_AT;
                            if (isFull && file.forcedPosition() < file.position()) {
                                // A device that is full writes nothing later, either.
                                file.force();
                                return 0;
                            }
                            if (isFull) {
                                failures.incrementAndGet();
                            }
                            if (failures.get() > 0 && method.getName().equals("error")) {
                                return "no space left, says the test";
                            }
                            return failures.get() > 0 && isAppend
                                    ? (Object) (-1)
                                    : invoke(file, method, arguments);
                        });
    }

    @Test
    void shouldGoOnBehindWhatIsAcknowledgedWhenTheFileOfALongMessageFails() throws Exception {
        int length = 1_000_000;
        try (DartWorld world = new DartWorld("shm")) {
            Path out = world.directory.resolve("out");
            Environment environment =
                    new ForwardingEnvironment(world.environment) {
                        @Override
                        public DurableStore store(String directory) {
                            return fullLater(super.store(directory));
                        }
                    };
            world.receive(
                    world.receiverContext().environment(environment).directory(out.toString()));
            // Four buffers of 64 KiB: most of what is stored by then is acknowledged and gone.
            world.master();
            DartClient client = world.client(0, c -> c.maxInFlight(4).checksum(true));
            UnsafeBuffer data = DartWorld.bytes(length, 1);
            client.sendCopy(data, 0, length, new DartMetadata().name("long"), 1);
            client.sendCopy(data, 0, 100, new DartMetadata().name("short"), 2);
            client.flush(20_000_000_000L);
            assertThat(failures.get()).isPositive();
            assertThat(world.errors).anyMatch(e -> e.getMessage().contains("says the test"));
            assertThat(Files.readAllBytes(out.resolve("long"))).isEqualTo(data.byteArray());
            assertThat(world.received).extracting(DartWorld.Received::tag).containsExactly(1, 2);
            assertThat(world.received.get(0).payload()).isEqualTo(data.byteArray());
            assertThat(world.received.get(0).isCorrupt()).isFalse();
        }
    }

    /** An environment whose stores fail as above. */
    private final class FailingStore extends ForwardingEnvironment {
        FailingStore(Environment real) {
            super(real);
        }

        @Override
        public DurableStore store(String directory) {
            return failing(super.store(directory));
        }
    }
}
