package dev.verbena.examples.pic;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** Runs the ranks of a run as threads of one process. */
final class Threads {
    private Threads() {}

    /** Runs a task for each rank and returns what they return, in rank order. */
    static <T> List<T> runAll(int count, IntFunction<Callable<T>> task) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(count);
        try {
            List<Future<T>> futures = new ArrayList<>();
            for (int rank = 0; rank < count; rank++) {
                futures.add(executor.submit(task.apply(rank)));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) {
                results.add(future.get());
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }

    /** Exchange between threads of one process. */
    static final class Exchange implements PicExchange {
        private final CyclicBarrier arrived;
        private final CyclicBarrier taken;
        private final long[] total;

        Exchange(int count, int length) {
            arrived = new CyclicBarrier(count);
            taken = new CyclicBarrier(count, this::clear);
            total = new long[length];
        }

        private void clear() {
            java.util.Arrays.fill(total, 0);
        }

        @Override
        public void sum(long[] values) {
            try {
                synchronized (total) {
                    for (int i = 0; i < values.length; i++) {
                        total[i] += values[i];
                    }
                }
                arrived.await();
                System.arraycopy(total, 0, values, 0, values.length);
                taken.await();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
