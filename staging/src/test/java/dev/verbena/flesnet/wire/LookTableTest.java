package dev.verbena.flesnet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Against sets and arrays. */
@Timeout(60)
class LookTableTest {
    private static final int STEPS = 20_000;

    private final SplittableRandom random = new SplittableRandom(7);

    private static TreeSet<Integer> looked(LookTable table) {
        TreeSet<Integer> looked = new TreeSet<>();
        for (int i = table.next(0); i >= 0; i = table.next(i + 1)) {
            looked.add(i);
        }
        return looked;
    }

    @Test
    void shouldLookAtWhatAPlainModelLooksAt() {
        for (int count : new int[] {1, 2, 63, 64, 65, 200}) {
            LookTable table = new LookTable(count);
            TreeSet<Integer> looked = new TreeSet<>();
            long[] times = new long[count];
            change(table, looked, times, 0);
            for (int step = 0; step < STEPS / count; step++) {
                change(table, looked, times, random.nextInt(40));
                assertThat(looked(table)).isEqualTo(looked);
                long earliest = LookTable.NEVER;
                for (long time : times) {
                    earliest = Math.min(earliest, time);
                }
                assertThat(table.earliest()).isEqualTo(earliest);
            }
        }
    }

    /** 0: all; up to 10: time passes; otherwise one of them. */
    private void change(LookTable table, TreeSet<Integer> looked, long[] times, int what) {
        int index = random.nextInt(times.length);
        if (what == 0) {
            table.lookAll();
            for (int i = 0; i < times.length; i++) {
                look(looked, times, i);
            }
        } else if (what <= 10) {
            long now = random.nextLong(100);
            table.expire(now);
            for (int i = 0; i < times.length; i++) {
                if (times[i] <= now) {
                    look(looked, times, i);
                }
            }
        } else if (what <= 20) {
            table.look(index);
            look(looked, times, index);
        } else {
            looked.remove(index);
            times[index] = what <= 35 ? random.nextLong(100) : LookTable.NEVER;
            table.lookAt(index, times[index]);
        }
    }

    private static void look(TreeSet<Integer> looked, long[] times, int index) {
        looked.add(index);
        times[index] = LookTable.NEVER;
    }
}
