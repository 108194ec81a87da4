package dev.verbena.dart;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;

/** An environment whose stores give a file its final name only after a while. */
final class SlowStore extends ForwardingEnvironment {
    private static final long DELAY_NS = TimeUnit.MILLISECONDS.toNanos(200);

    SlowStore(Environment inner) {
        super(inner);
    }

    @Override
    public DurableStore store(String directory) {
        DurableStore store = super.store(directory);
        return (DurableStore)
                Proxy.newProxyInstance(
                        DurableStore.class.getClassLoader(),
                        new Class<?>[] {DurableStore.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("rename")) {
                                return new SlowRename(
                                        store, arguments[0].toString(), arguments[1].toString());
                            }
                            try {
                                return method.invoke(store, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private final class SlowRename implements DurableStore.Completion {
        private final DurableStore store;
        private final String from;
        private final String to;
        private final long dueNs = nanoClock().nanoTime() + DELAY_NS;
        private DurableStore.Completion begun;

        SlowRename(DurableStore store, String from, String to) {
            this.store = store;
            this.from = from;
            this.to = to;
        }

        @Override
        public boolean isDone() {
            if (begun == null && nanoClock().nanoTime() - dueNs >= 0) {
                begun = store.rename(from, to);
            }
            return begun != null && begun.isDone();
        }

        @Override
        public String error() {
            return begun == null ? "" : begun.error();
        }
    }
}
