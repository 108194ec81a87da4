package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TracingTransportTest {
    @Test
    void shouldWriteALineForEachCallAndEvent() {
        List<String> lines = new ArrayList<>();
        Transport inner = ShmTesting.open("traced");
        try (ContractNode a = new ContractNode(new TracingTransport(inner, lines::add));
                ContractNode b = new ContractNode(ShmTesting.open("traced"))) {
            long handle = a.connect(b, 11);
            RegisteredRegion local = a.allocate(64);
            RegisteredRegion remote = b.allocate(64, RemoteDescriptor.REMOTE_READ);
            RemoteDescriptor d = ContractFixture.describe(remote);
            a.transport.send(handle, local, 0, 8, 21, 0);
            a.transport.put(handle, local, 8, d, 16, 8, 22, Transport.FENCE);
            a.transport.get(
                    handle, new TransferVector(1).add(local, 1, 2, 3), d, 23, Transport.FENCE);
            a.poll();
            assertThatThrownBy(() -> a.transport.send(handle, local, 60, 8, 24, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            a.poll();
            b.transport.send(b.lives.get(0).connection(), remote, 0, 5, 1, 0);
            a.poll();
            List<String> texts = lines.stream().map(l -> l.replaceFirst("^[0-9]+ ", "")).toList();
            assertThat(texts)
                    .contains(
                            "event connected connection=" + handle + " context=11",
                            "call allocate length=64 rights=7 = " + local.id(),
                            "call send connection="
                                    + handle
                                    + " context=21 flags=0 region="
                                    + local.id()
                                    + " offset=0 length=8 = ACCEPTED",
                            "event completion connection="
                                    + handle
                                    + " context=22 operation=put status=ACCESS value=0",
                            "event completion connection="
                                    + handle
                                    + " context=23 operation=get status=OK value=3");
            assertThat(texts)
                    .anyMatch(
                            l ->
                                    l.startsWith("call connect peer=shm://")
                                            && l.endsWith(" = " + handle));
            assertThat(texts)
                    .anyMatch(
                            l ->
                                    l.startsWith("call put")
                                            && l.contains("flags=FENCE")
                                            && l.contains("remoteOffset=16 length=8 = ACCEPTED"));
            assertThat(texts)
                    .anyMatch(
                            l ->
                                    l.startsWith("call get")
                                            && l.contains(
                                                    "[region="
                                                            + local.id()
                                                            + " offset=1 remoteOffset=2 length=3]"));
            assertThat(texts)
                    .anyMatch(
                            l ->
                                    l.startsWith("call send")
                                            && l.contains(
                                                    " threw java.lang.IllegalArgumentException"));
            assertThat(texts)
                    .anyMatch(l -> l.startsWith("event message") && l.contains("length=5"));
        }
        assertThat(lines.get(lines.size() - 1)).endsWith("call close = ACCEPTED");
    }
}
