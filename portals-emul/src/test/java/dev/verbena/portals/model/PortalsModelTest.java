package dev.verbena.portals.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.PortalsOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random operations in the library and in a sequential model that is obviously right. {@code
 * -Dverbena.seed=N} replays a run; a list of actions that fails is made as short as it will go.
 * {@code -Dverbena.long=true}: twenty times as many.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
class PortalsModelTest {
    private static final int ACTIONS = 500;
    private static final int TRIES_MAX = 300;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    private static int times(int rounds) {
        // --long: twenty times as many calls beside the model
        return Boolean.getBoolean("verbena.long") ? 20 * rounds : rounds;
    }

    private static String job() {
        return "model-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
    }

    private static List<Supplier<NicCalls>> kinds(boolean isRemote) {
        String job = job();
        List<Supplier<NicCalls>> kinds = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            boolean isOther = isRemote && i > 0;
            kinds.add(() -> isOther ? new RemoteNic(job) : new LocalNic(job));
        }
        return kinds;
    }

    /** Runs the actions from a fresh start; what went wrong, or null. */
    private static String fault(List<ModelAction> actions, boolean isRemote, StringBuilder story) {
        try (ModelWorld world = new ModelWorld(kinds(isRemote))) {
            return fault(world, actions, story);
        }
    }

    private static String fault(ModelWorld world, List<ModelAction> actions, StringBuilder story) {
        try {
            ModelActions all = new ModelActions(world, story);
            prepare(world);
            for (ModelAction action : actions) {
                all.run(action);
            }
            world.clear();
            return null;
        } catch (AssertionError e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static void prepare(ModelWorld world) {
        for (ModelWorld.Side side : world.sides) {
            world.queue(side, 64);
            world.queue(side, 4);
        }
    }

    /** Leaves out what is not needed to fail: halves first, single actions last. */
    private static List<ModelAction> shortened(List<ModelAction> failing, boolean isRemote) {
        List<ModelAction> shortest = failing;
        int tries = 0;
        for (int piece = failing.size() / 2; piece > 0; piece /= 2) {
            for (int at = 0; at < shortest.size() && tries < TRIES_MAX; ) {
                List<ModelAction> without = new ArrayList<>(shortest.subList(0, at));
                without.addAll(
                        shortest.subList(Math.min(at + piece, shortest.size()), shortest.size()));
                tries++;
                if (fault(without, isRemote, null) != null) {
                    shortest = without;
                } else {
                    at += piece;
                }
            }
        }
        return shortest;
    }

    private static String explain(String found, List<ModelAction> actions, boolean isRemote) {
        if (fault(actions, isRemote, null) == null) {
            return found + "\nonly after the cases before it";
        }
        List<ModelAction> shortest = shortened(actions, isRemote);
        StringBuilder story = new StringBuilder();
        String fault = fault(shortest, isRemote, story);
        return found + "\nshortened to " + shortest.size() + " actions:\n" + story + fault;
    }

    /** Whatever can happen did happen, and often: a test that meets nothing proves nothing. */
    private static void expectEverything(ModelWorld world, int actions) {
        for (int kind = 0; kind < world.seenKinds.length; kind++) {
            assertThat(world.seenKinds[kind])
                    .as(PortalsEventKind.name(kind))
                    .isGreaterThan(actions / 1000);
        }
        assertThat(world.seenOutcomes[PortalsOutcome.DELIVERED]).isGreaterThan(actions / 20);
        assertThat(world.seenOutcomes[PortalsOutcome.DROPPED]).isGreaterThan(actions / 100);
        assertThat(world.seenOutcomes[PortalsOutcome.REPLY_DROPPED]).isPositive();
        assertThat(world.seenOutcomes[PortalsOutcome.UNREACHABLE]).isPositive();
    }

    private static void run(long seed, int cases, int actions, boolean isRemote) {
        System.out.println("PortalsModelTest: -Dverbena.seed=" + seed + ", " + cases * actions);
        try (ModelWorld world = new ModelWorld(kinds(isRemote))) {
            for (int i = 0; i < cases; i++) {
                List<ModelAction> drawn = ModelAction.draw(seed * 1_000_003 + i, actions);
                String found = fault(world, drawn, null);
                if (found != null) {
                    String text = explain(found, drawn, isRemote);
                    throw new AssertionError("seed " + seed + ", case " + i + ": " + text);
                }
            }
            System.out.println(
                    "PortalsModelTest: events "
                            + Arrays.toString(world.seenKinds)
                            + ", outcomes "
                            + Arrays.toString(world.seenOutcomes));
            if (!isRemote) {
                expectEverything(world, cases * actions);
            }
        }
    }

    private static long seed() {
        return Long.getLong("verbena.seed", 20260711L);
    }

    /** Three interfaces of this process, one of them in the flavour of Cray. */
    @Test
    @Tag("seeded")
    void shouldDoWhatTheModelDoes() {
        run(seed(), times(400), ACTIONS, false);
    }

    /** The second and third interface are those of other processes. */
    @Test
    @Tag("seeded")
    void shouldDoWhatTheModelDoesBetweenProcesses() {
        run(seed() + 1, times(12), ACTIONS, true);
    }

    /** A model that is wrong on purpose: the difference is found and shortened to what matters. */
    @Test
    void shouldShortenWhatFails() {
        List<ModelAction> drawn = new ArrayList<>(ModelAction.draw(7, 300));
        ModelAction wrong = new ModelAction(null, 0);
        drawn.add(150, wrong);
        List<ModelAction> shortest = new ArrayList<>(drawn);
        shortest.removeIf(a -> a != wrong);
        assertThat(shortened(drawn, false)).isEqualTo(shortest);
    }
}
