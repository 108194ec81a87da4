package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.receiver.RankWatch;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The receiver learns which compute processes were lost. Processes are real and get {@code kill
 * -9}; one small subclass for each provider names the scheme.
 */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
public abstract class DartLossContract {
    private static final long FAR_NS = 600_000_000_000L;

    private final List<String> lost = new CopyOnWriteArrayList<>();
    private final List<String> steps = new CopyOnWriteArrayList<>();
    private final Map<DartClient, Integer> ranks = new HashMap<>();

    /** For subclasses in other modules. */
    protected DartLossContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    private DartWorld world() {
        DartWorld world = new DartWorld(scheme());
        DartStepContext context = new DartStepContext(this::onStep);
        context.rankCount(2).messagesPerRank(1).openStepsMax(100).deadlineNs(FAR_NS);
        return world.receive(
                world.receiverContext()
                        .steps(context)
                        .lostHandler(
                                (application, rank, client) ->
                                        lost.add(application + "/" + rank + "/" + client)));
    }

    private void onStep(DartStep step) {
        String dead = java.util.Arrays.toString(step.lostRanks());
        steps.add(step.step() + (step.isComplete() ? " complete" : " " + step.missing() + dead));
    }

    private void send(DartClient client, int step) {
        UnsafeBuffer data = DartWorld.bytes(100, step);
        client.sendCopy(data, 0, 100, new DartMetadata().rank(ranks.get(client)).step(step), step);
    }

    private DartClient client(DartWorld world, int rank, Consumer<DartClient.Context> change) {
        DartClient client = world.client(rank, change);
        ranks.put(client, rank);
        return client;
    }

    private void awaitStep(String text) {
        Await.until(() -> "'" + text + "' among " + steps, () -> steps.contains(text));
    }

    @Test
    void shouldTellWhichProcessWasLostAndLetNoStepWaitForIt() throws Exception {
        try (DartWorld world = world()) {
            DartServer master = world.master();
            DartClient steady = client(world, 0, c -> c.maxInFlight(8));
            try (DartNode victim = DartNode.start(world, "client", "rank=1", "count=1")) {
                int id = Integer.parseInt(victim.await("sent"));
                send(steady, 1);
                send(steady, 2);
                steady.flush(DartWorld.LIMIT_NS);
                assertThat(lost).isEmpty();
                victim.kill();
                String dead = " rank 1: its process was lost, nothing came[1]";
                awaitStep("1" + dead);
                awaitStep("2" + dead);
                assertThat(lost).containsExactly("0/1/" + id);
                assertThat(world.errors)
                        .anyMatch(
                                e ->
                                        e instanceof DartException
                                                && ((DartException) e).code()
                                                        == DartException.Code.PROCESS_LOST);
                // Neither does one that begins now.
                send(steady, 3);
                awaitStep("3" + dead);
            }
            // A new process of that rank: steps wait for it again.
            DartClient again = client(world, 1, c -> {});
            send(again, 4);
            again.flush(DartWorld.LIMIT_NS);
            send(steady, 4);
            awaitStep("4 complete");
            Await.until("buffers are back", () -> master.statistics().emptyCount() == 4);
            assertThat(lost).hasSize(1);
            DartNode.sweep(world);
        }
    }

    @Test
    void shouldNotTakeAProcessForLostThatWentToAnotherServer() throws Exception {
        try (DartWorld world = world()) {
            world.master(c -> c.serverCount(2));
            try (DartNode slave = DartNode.start(world, "slave")) {
                slave.await("ready");
                DartClient first = client(world, 0, c -> c.reassign(true));
                DartClient second = client(world, 1, c -> c.reassign(true));
                DartClient moved = first.serverId() == 1 ? first : second;
                DartClient steady = first.serverId() == 1 ? second : first;
                send(moved, 1);
                moved.flush(DartWorld.LIMIT_NS);
                slave.signal("STOP");
                send(moved, 2);
                moved.flush(DartWorld.LIMIT_NS);
                assertThat(moved.serverId()).isZero();
                // It wakes, finds its client gone and says so, late.
                slave.signal("CONT");
                slave.await("error client");
                long end = System.nanoTime() + 2 * RankWatch.GRACE_NS;
                for (int step = 3; System.nanoTime() - end < 0; step++) {
                    send(moved, step);
                    moved.flush(DartWorld.LIMIT_NS);
                    TimeUnit.MILLISECONDS.sleep(100);
                }
                for (int step = 1; step < 4; step++) {
                    send(steady, step);
                    awaitStep(step + " complete");
                }
                assertThat(lost).isEmpty();
                slave.end();
            }
            DartNode.sweep(world);
        }
    }

    @Test
    void shouldNotTakeAProcessForLostThatLeft() throws Exception {
        try (DartWorld world = world()) {
            world.master();
            DartClient steady = client(world, 0, c -> {});
            DartClient leaving = client(world, 1, c -> {});
            send(leaving, 1);
            leaving.close();
            world.clients.remove(leaving);
            long end = System.nanoTime() + 2 * RankWatch.GRACE_NS;
            for (int step = 1; System.nanoTime() - end < 0; step++) {
                send(steady, step);
                steady.flush(DartWorld.LIMIT_NS);
                TimeUnit.MILLISECONDS.sleep(100);
            }
            assertThat(lost).isEmpty();
            assertThat(steps).containsExactly("1 complete");
        }
    }
}
