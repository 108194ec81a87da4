package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.AddressVector;
import dev.verbena.ofi.CompletionQueue;
import dev.verbena.ofi.Domain;
import dev.verbena.ofi.Endpoint;
import dev.verbena.ofi.Fabric;
import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.MemoryRegion;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import dev.verbena.transport.core.ConnectionLife;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two releases whose records differ: both ends say so, and nobody waits. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class OfiVersionTest {
    private static final int SENT = 1;
    private static final int RECEIVED = 2;
    private static final int ANSWER = 512;
    private static final int LATER_VERSION = 2;

    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private final int[] ended = new int[4];
    private int failed = -1;
    private String reason = "";

    private final TransportHandler handler =
            new TransportHandler() {
                @Override
                public void onConnectFailed(long connection, long context, int status, String why) {
                    failed = status;
                    reason = why;
                }
            };

    private static byte[] nameOf(Transport transport) throws Exception {
        return OfiAddress.of(transport.uri()).endpointName();
    }

    private static void pump(
            String what, Transport transport, TransportHandler handler, BooleanSupplier is) {
        Await.until(
                () -> what,
                () -> {
                    transport.poll(handler, 8);
                    return is.getAsBoolean();
                });
    }

    @Test
    void shouldRefuseARequestOfAnotherVersionInThatVersionAndSayWhyHere() throws Exception {
        try (Transport transport =
                        Transports.open(
                                "ofi", new TransportContext().job("v").errorHandler(errors::add));
                FabricInfo info =
                        FabricInfo.first("tcp", "", "", FabricInfo.MESSAGES | FabricInfo.RMA);
                Fabric fabric = Fabric.open(info);
                Domain domain = fabric.domain(info);
                AddressVector peers = domain.addressVector(4);
                CompletionQueue queue = domain.completionQueue(64, false);
                Endpoint endpoint = domain.endpoint(queue, peers, null);
                OffHeapMemory memory = OffHeapMemories.allocate(2 * ANSWER);
                MemoryRegion region =
                        domain.register(
                                memory, MemoryRegion.SEND | MemoryRegion.RECEIVE, 5, endpoint)) {
            transport.listen();
            UnsafeBuffer bytes = memory.buffer(0, 2 * ANSWER);
            ControlRecord request = new ControlRecord().wrap(bytes, 0);
            request.sender(77, 1, 1_000_000_000L, endpoint.name());
            request.write(ConnectionLife.CONNECT, 0, 4711, 1, 64, null);
            request.version(LATER_VERSION);
            long peer = peers.insert(nameOf(transport));
            assertThat(endpoint.receive(region, ANSWER, ControlRecord.LENGTH, RECEIVED)).isZero();
            BooleanSupplier look =
                    () -> queue.poll((context, size, code) -> ended[(int) context]++) >= 0;
            pump(
                    "the request is taken",
                    transport,
                    handler,
                    () ->
                            look.getAsBoolean()
                                    && endpoint.send(region, 0, ControlRecord.LENGTH, peer, SENT)
                                            == 0);
            pump(
                    "the answer",
                    transport,
                    handler,
                    () -> look.getAsBoolean() && ended[RECEIVED] > 0 && ended[SENT] > 0);
            ControlRecord answer = new ControlRecord().wrap(bytes, ANSWER);
            assertThat(Wire.version(bytes, ANSWER)).isEqualTo(LATER_VERSION);
            assertThat(answer.type()).isEqualTo(ControlRecord.VERSION);
            assertThat(answer.to()).isEqualTo(4711);
            assertThat(errors)
                    .singleElement()
                    .asString()
                    .contains("version 2", "version 1", "same release");

            // The other way round: the transport asks, a later release refuses in version 1.
            assertThat(endpoint.receive(region, ANSWER, ControlRecord.LENGTH, RECEIVED)).isZero();
            ended[RECEIVED] = 0;
            ended[SENT] = 0;
            String uri =
                    OfiAddress.of(endpoint.name(), info.hasSocketAddresses(), "", "tcp", 0)
                            .uri()
                            .toString();
            transport.connect(java.net.URI.create(uri), null, 0, 0, 1, 30_000_000_000L);
            pump(
                    "the transport's request",
                    transport,
                    handler,
                    () -> look.getAsBoolean() && ended[RECEIVED] > 0);
            request.sender(77, 1, 1_000_000_000L, endpoint.name());
            request.write(ControlRecord.VERSION, answer.from(), 0, 0, 0, null);
            pump(
                    "the refusal is taken",
                    transport,
                    handler,
                    () ->
                            look.getAsBoolean()
                                    && endpoint.send(region, 0, ControlRecord.LENGTH, peer, SENT)
                                            == 0);
            pump("the end", transport, handler, () -> look.getAsBoolean() && failed >= 0);
            assertThat(failed).isEqualTo(Status.REFUSED);
            assertThat(reason).contains("another version", "same release");
            pump("the send", transport, handler, () -> look.getAsBoolean() && ended[SENT] > 0);
        }
    }
}
