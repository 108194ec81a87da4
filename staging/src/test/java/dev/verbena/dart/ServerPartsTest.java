package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.wire.ControlFlyweight;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerPartsTest {
    @Test
    @Tag("dart-D7")
    @Tag("dart-D8")
    void shouldAssignInTurnAndKeepIds() {
        for (int servers = 1; servers <= 5; servers++) {
            for (int clients = 1; clients <= 130; clients++) {
                Assignments assignments = new Assignments();
                for (int i = 0; i < servers; i++) {
                    assignments.addServer(i);
                }
                Map<Integer, Integer> counts = new HashMap<>();
                Set<Integer> ids = new HashSet<>();
                List<Assignments.Assignment> all = new ArrayList<>();
                for (int rank = 0; rank < clients; rank++) {
                    Assignments.Assignment made = assignments.assign(0, rank);
                    counts.merge(made.serverId(), 1, Integer::sum);
                    ids.add(made.clientId());
                    all.add(made);
                }
                int most = counts.values().stream().max(Integer::compare).orElseThrow();
                int least =
                        counts.size() < servers
                                ? 0
                                : counts.values().stream().min(Integer::compare).orElseThrow();
                assertThat(most - least).isLessThanOrEqualTo(1);
                assertThat(ids).hasSize(clients);
                for (int rank = 0; rank < clients; rank++) {
                    assertThat(assignments.assign(0, rank)).isEqualTo(all.get(rank));
                }
                assertThat(assignments.assign(1, 0).clientId()).isEqualTo(Assignments.minimumId(1));
            }
        }
    }

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
    @Tag("dart-D8")
    void shouldKeepIdWhenServerIsGone() {
        Assignments assignments = new Assignments();
        assignments.addServer(0);
        assignments.addServer(1);
        Assignments.Assignment first = assignments.assign(0, 0);
        assignments.removeServer(first.serverId());
        Assignments.Assignment again = assignments.assign(0, 0);
        assertThat(again.clientId()).isEqualTo(first.clientId());
        assertThat(again.serverId()).isNotEqualTo(first.serverId());
    }

    @Test
    @Tag("dart-D29")
    void shouldMoveBuffersInOrderOfCompletion() {
        try (RealEnvironment environment = RealEnvironment.create()) {
            ServerShared shared =
                    new ServerShared(
                            new DartServer.Context()
                                    .environment(environment)
                                    .configurationFile("x")
                                    .discard(true)
                                    .bufferCount(5)
                                    .settings());
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

    private static ServerBuffer buffer(int index, int length) {
        ServerBuffer buffer = new ServerBuffer(index, 0, new UnsafeBuffer(new byte[length]));
        buffer.length = length;
        return buffer;
    }

    @Test
    void shouldHoldFramesUntilAcknowledgedAndGoBack() {
        HeldBuffers held = new HeldBuffers(4, 40);
        List<ServerBuffer> given = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(buffer(i, 100));
        }
        held.window(1000);
        for (int i = 0; i < 9; i++) {
            assertThat(held.hasNext()).isTrue();
            held.written();
        }
        assertThat(held.hasNext()).isFalse();
        assertThat(held.sentUpTo()).isEqualTo(9);
        assertThat(held.unacknowledged()).isEqualTo(300);
        held.acknowledge(4, given::add);
        assertThat(given).hasSize(1);
        assertThat(held.unacknowledged()).isEqualTo(200);
        held.acknowledge(6, given::add);
        assertThat(given).hasSize(1);
        assertThatThrownBy(() -> held.acknowledge(11, given::add)).hasMessageContaining("11");
        assertThatThrownBy(() -> held.rewind(5)).hasMessageContaining("5");
        held.rewind(8);
        assertThat(held.next().index).isEqualTo(2);
        assertThat(held.nextFrame()).isEqualTo(1);
        assertThat(held.unacknowledged()).isEqualTo(60);
        held.rewind(6);
        assertThat(held.next().index).isEqualTo(1);
        assertThat(held.nextFrame()).isEqualTo(2);
        // What arrived over the connection before need not be sent again.
        held.acknowledge(9, given::add);
        assertThat(given).hasSize(2);
        assertThat(held.nextFrame()).isEqualTo(2);
        assertThat(held.next().index).isEqualTo(2);
        held.written();
        held.acknowledge(10, given::add);
        assertThat(given).hasSize(3);
        assertThat(held.isEmpty()).isTrue();
        assertThat(held.unacknowledged()).isZero();
    }

    @Test
    void shouldKeepWithinWindow() {
        HeldBuffers held = new HeldBuffers(4, 40);
        held.window(90);
        held.add(buffer(0, 100));
        held.add(buffer(1, 100));
        held.written();
        held.written();
        assertThat(held.hasNext()).isFalse();
        held.acknowledge(2, b -> {});
        assertThat(held.hasNext()).isTrue();
    }

    @Test
    void shouldKeepPercentiles() {
        TimeHistogram histogram = new TimeHistogram();
        for (int i = 1; i <= 100_000; i++) {
            histogram.record(i);
        }
        assertThat(histogram.count()).isEqualTo(100_000);
        assertThat(histogram.percentileNs(50)).isBetween(50_000L, 52_000L);
        assertThat(histogram.percentileNs(99)).isBetween(99_000L, 100_000L);
        assertThat(histogram.maxNs()).isEqualTo(100_000);
        histogram.record(Long.MAX_VALUE);
        assertThat(histogram.percentileNs(100)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldKeepSumAndMaximumWithoutADistribution() {
        TimeHistogram histogram = new TimeHistogram(false);
        histogram.record(3);
        histogram.record(5);
        assertThat(histogram.count()).isEqualTo(2);
        assertThat(histogram.meanNs()).isEqualTo(4);
        assertThat(histogram.percentileNs(50)).isEqualTo(5);
        histogram.reset();
        assertThat(histogram.percentileNs(50)).isZero();
    }

    @Test
    @Tag("dart-D44")
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
