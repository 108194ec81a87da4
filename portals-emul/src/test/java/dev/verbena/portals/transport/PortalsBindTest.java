package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsException;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first operation of a region, when the NIC has no descriptor for it at that moment. */
@Timeout(60)
class PortalsBindTest implements TransportHandler {
    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> statuses = new ArrayList<>();
    private final ArrayDeque<MemoryDescriptor> taken = new ArrayDeque<>();
    private PortalsTransport a;
    private PortalsTransport b;
    private long connection;
    private RegisteredRegion source;
    private RegisteredRegion target;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();

    private PortalsTransport open() {
        String job = "bind-" + ProcessHandle.current().pid();
        TransportContext context =
                new TransportContext()
                        .job(job)
                        .option(ResourceSizes.REGISTRATIONS_OPTION, "16")
                        .errorHandler(errors::add);
        return PortalsTransportProvider.open(context, null);
    }

    @BeforeEach
    void connect() {
        a = open();
        b = open();
        b.listen();
        a.connect(b.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 1, 10_000_000_000L);
        Await.until(
                "connected",
                () -> {
                    a.poll(this, 10);
                    b.poll(this, 10);
                    return connection != 0;
                });
        source = a.allocate(64, 0);
        target = b.allocate(64, RemoteDescriptor.REMOTE_ALL & ~RemoteDescriptor.REMOTE_ATOMIC);
        target.describe(
                0, 64, RemoteDescriptor.REMOTE_READ | RemoteDescriptor.REMOTE_WRITE, descriptor);
        source.buffer(0, 64).setMemory(0, 64, (byte) 7);
        takeAllDescriptors();
    }

    /** The NIC has none left. */
    private void takeAllDescriptors() {
        MemoryDescriptorContext rules =
                new MemoryDescriptorContext().region(source.address(), 8).startEvents(false);
        try {
            while (true) {
                taken.add(a.resources().ni.bind(rules, MemoryDescriptor.RETAIN));
            }
        } catch (PortalsException e) {
            assertThat(taken).isNotEmpty();
        }
    }

    @AfterEach
    void close() {
        taken.forEach(each -> assertThat(each.tryUnlink()).isTrue());
        source.close();
        target.close();
        a.close();
        b.close();
        assertThat(errors).isEmpty();
    }

    private void shouldBePutOff(IntSupplier operation) {
        for (int i = 0; i < 200; i++) {
            assertThat(operation.getAsInt()).isEqualTo(Transport.BACK_PRESSURED);
        }
        assertThat(taken.poll().tryUnlink()).isTrue();
        assertThat(operation.getAsInt()).isEqualTo(Transport.ACCEPTED);
        Await.until(
                "completed",
                () -> {
                    a.poll(this, 10);
                    b.poll(this, 10);
                    return !statuses.isEmpty();
                });
        assertThat(statuses).containsExactly(dev.verbena.transport.Status.OK);
    }

    @Test
    void shouldAnswerBackPressuredToAPut() {
        shouldBePutOff(() -> a.put(connection, source, 0, descriptor, 0, 64, 1, 0));
        assertThat(target.buffer(0, 64).getByte(63)).isEqualTo((byte) 7);
    }

    @Test
    void shouldAnswerBackPressuredToAGet() {
        shouldBePutOff(() -> a.get(connection, source, 0, descriptor, 0, 64, 1, 0));
        assertThat(source.buffer(0, 64).getByte(63)).isZero();
    }

    @Test
    void shouldAnswerBackPressuredToAPutThatNotifies() {
        shouldBePutOff(() -> a.putNotify(connection, source, 0, descriptor, 0, 64, 5, 1, 0));
    }

    @Test
    void shouldAnswerBackPressuredToAVector() {
        TransferVector vector = new TransferVector(2);
        vector.add(source, 0, 0, 8).add(source, 8, 8, 8);
        shouldBePutOff(() -> a.put(connection, vector, descriptor, 1, 0));
    }

    /** Nobody waits for ever where the table is really full. */
    @Test
    void shouldSayInTheEndThatTheTableIsFull() {
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 10_000; i++) {
                                a.put(connection, source, 0, descriptor, 0, 64, 1, 0);
                            }
                        })
                .isInstanceOf(PortalsException.class)
                .hasMessageContaining("NO_SPACE");
    }

    @Override
    public void onCompletion(long c, int operation, long context, int status, long value) {
        statuses.add(status);
    }

    @Override
    public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
        b.accept(c, 2);
    }

    @Override
    public void onConnected(long c, long context) {
        if (context == 1) {
            connection = c;
        }
    }
}
