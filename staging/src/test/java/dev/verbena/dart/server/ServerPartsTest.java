package dev.verbena.dart.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.Settings;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerPartsTest {
    @Test
    @Tag("dart-F7")
    void shouldTellOfLossesThatAreFoundOutOfOrder() {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH]);
        ControlFlyweight record = new ControlFlyweight();
        record.begin(memory, 0, ControlFlyweight.REGISTER, new UUID(1, 2))
                .registration()
                .write(ControlFlyweight.ROLE_CLIENT, 4, 0, 0, URI.create("shm://host/job/a"));
        ServedClient client = new ServedClient(1, 0, 1, record.registration(), 8, 0);
        client.addLost(6, ControlFlyweight.RESULT_TRANSFER_FAILED);
        client.addLost(5, ControlFlyweight.RESULT_TRANSFER_FAILED);
        client.addLost(6, ControlFlyweight.RESULT_TRANSFER_FAILED);
        assertThat(client.lost).containsExactly(6L, 5L);
        assertThat(client.lostUpTo).isEqualTo(6);
    }

    @Test
    @Tag("dart-D29")
    void shouldMoveBuffersInOrderOfCompletion() {
        try (RealEnvironment environment = RealEnvironment.create()) {
            ServerShared shared =
                    new ServerShared(
                            Settings.of(
                                    new DartServer.Context()
                                            .environment(environment)
                                            .configurationFile("x")
                                            .discard(true)
                                            .bufferCount(5)));
            CompletionAgent t2 = new CompletionAgent(shared);
            ServerBuffer[] buffers = new ServerBuffer[5];
            for (int i = 0; i < 5; i++) {
                buffers[i] = buffer(i, 100);
                shared.pending.offer(buffers[i]);
            }
            t2.doWork();
            assertThat(shared.statistics().pendingCount()).isEqualTo(5);
            for (int i : new int[] {3, 0, 4, 2, 1}) {
                shared.completed.offer(buffers[i]);
            }
            t2.doWork();
            assertThat(shared.statistics().pendingCount()).isZero();
            for (int i : new int[] {3, 0, 4, 2, 1}) {
                assertThat(shared.full.poll()).isSameAs(buffers[i]);
            }
        }
    }

    @Test
    void shouldLeaveNothingOpenWhenTheSpillDirectoryCannotBeMade() {
        List<Transport> opened = new ArrayList<>();
        try (RealEnvironment environment = RealEnvironment.create()) {
            ServerShared shared =
                    new ServerShared(
                            Settings.of(
                                    new DartServer.Context()
                                            .environment(new Opening(environment, opened))
                                            .configurationFile("x")
                                            .receiver(URI.create("shm://parts/receiver"))
                                            .spill("/proc/none/spill", 1 << 26)));
            assertThatThrownBy(() -> new StreamAgent(shared))
                    .hasMessageContaining("cannot make the directory /proc/none/spill");
            assertThat(shared.bufferMemory.memory().isClosed()).isTrue();
            assertThat(opened).hasSize(1);
            assertThatThrownBy(() -> opened.get(0).allocate(64, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    /** Tells which transports were opened. */
    private static final class Opening extends ForwardingEnvironment {
        private final List<Transport> opened;

        Opening(Environment inner, List<Transport> opened) {
            super(inner);
            this.opened = opened;
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            opened.add(super.openTransport(scheme, context));
            return opened.get(opened.size() - 1);
        }
    }

    private static ServerBuffer buffer(int index, int length) {
        ServerBuffer buffer = new ServerBuffer(index, 0, new UnsafeBuffer(new byte[length]));
        buffer.beginPull(0, 0, length, 0);
        return buffer;
    }

    @Test
    @Tag("dart-D44")
    @Tag("once")
    void shouldNeverEndTheJvm() {
        JavaClasses classes = new ClassFileImporter().importPackagesOf(DartServer.class);
        assertThat(classes).isNotEmpty();
        ArchRuleDefinition.noClasses()
                .that()
                .haveNameNotMatching(".*(Test|Contract|World|Environment|Main).*")
                .should()
                .callMethod(System.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "halt", int.class)
                .check(classes);
    }
}
