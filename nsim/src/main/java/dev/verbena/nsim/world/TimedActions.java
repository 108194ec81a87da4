package dev.verbena.nsim.world;

import dev.verbena.nsim.engine.Engine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Actions that are due at a virtual time, by number of slot. Belongs to the world's thread. */
final class TimedActions {
    private final Engine engine;
    private final int kind;
    private final List<Runnable> actions = new ArrayList<>();
    private final ArrayDeque<Integer> free = new ArrayDeque<>();

    TimedActions(Engine engine, int kind) {
        this.engine = engine;
        this.kind = kind;
        engine.handler(kind, (time, target, argument) -> call((int) argument));
    }

    void after(long picoseconds, int target, Runnable action) {
        int slot;
        if (free.isEmpty()) {
            slot = actions.size();
            actions.add(action);
        } else {
            slot = free.poll();
            actions.set(slot, action);
        }
        engine.schedule(engine.nowPs() + picoseconds, target, target, kind, slot);
    }

    private void call(int slot) {
        Runnable action = actions.set(slot, null);
        free.add(slot);
        action.run();
    }
}
