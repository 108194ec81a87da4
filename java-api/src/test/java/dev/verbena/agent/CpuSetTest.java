package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class CpuSetTest {
    /** More than any kernel here has. */
    private static final int NO_CPU = 60_000;

    /** What a test does to a thread ends with it. */
    private static void onThread(FutureTask<Void> task) throws Exception {
        new Thread(task, "bound").start();
        task.get(20, TimeUnit.SECONDS);
    }

    /** What the kernel says of the calling thread. */
    static String allowedList() throws IOException {
        String key = "Cpus_allowed_list:";
        return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length()).strip())
                .findFirst()
                .orElseThrow();
    }

    /** The first processor that this thread may use. */
    static CpuSet first() {
        CpuSet own = CpuSet.ofThread();
        int cpu = 0;
        while (!own.contains(cpu)) {
            cpu++;
        }
        return CpuSet.parse(Integer.toString(cpu));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|0", "1,0|0-1", " 0-3,8,10-11 |0-3,8,10-11", "7,6,5-6|5-7", "65535|65535"})
    void shouldReadAndWriteLists(String list, String text) {
        assertThat(CpuSet.parse(list)).hasToString(text).isEqualTo(CpuSet.parse(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ",", "1,", "a", "-1", "1-", "1-2-3", "0x1", "3-1", "65536", "999999"})
    void shouldNameWhatIsNoList(String list) {
        assertThatThrownBy(() -> CpuSet.parse(list))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + list + "' is no list of processors like 0-3,8: ");
    }

    @Test
    void shouldCompareSets() {
        CpuSet some = CpuSet.parse("0-3,8");
        assertThat(some.count()).isEqualTo(5);
        assertThat(some.contains(8)).isTrue();
        assertThat(some.contains(7) || some.contains(-1)).isFalse();
        assertThat(some.containsAll(CpuSet.parse("1,8"))).isTrue();
        assertThat(some.containsAll(CpuSet.parse("1,9"))).isFalse();
        assertThat(some.intersects(CpuSet.parse("1,9"))).isTrue();
        assertThat(some.intersects(CpuSet.parse("9"))).isFalse();
        assertThat(some).isNotEqualTo(CpuSet.parse("0-3")).hasSameHashCodeAs(CpuSet.parse("8,0-3"));
    }

    @Test
    void shouldBindAThreadAndThoseThatItStarts() throws Exception {
        CpuSet before = CpuSet.ofThread();
        CpuSet first = first();
        onThread(
                new FutureTask<>(
                        () -> {
                            first.bind();
                            assertThat(allowedList()).isEqualTo(first.toString());
                            assertThat(CpuSet.ofThread()).isEqualTo(first);
                            FutureTask<String> child = new FutureTask<>(CpuSetTest::allowedList);
                            new Thread(child, "child").start();
                            assertThat(child.get(20, TimeUnit.SECONDS)).isEqualTo(first.toString());
                            before.bind();
                            assertThat(CpuSet.ofThread()).isEqualTo(before);
                            return null;
                        }));
        assertThat(CpuSet.ofThread()).isEqualTo(before);
    }

    @Test
    void shouldNameProcessorsThatAreNotThereAndStayAsItWas() throws Exception {
        CpuSet first = first();
        assumeTrue(CpuSet.ofThread().count() > 1, "one processor only");
        onThread(
                new FutureTask<>(
                        () -> {
                            first.bind();
                            for (String list : new String[] {"" + NO_CPU, first + "," + NO_CPU}) {
                                assertThatThrownBy(CpuSet.parse(list)::bind)
                                        .isInstanceOf(IllegalArgumentException.class)
                                        .hasMessageContaining("may not run on processor " + NO_CPU)
                                        .hasMessageContaining("it may run on " + first);
                                assertThat(allowedList()).isEqualTo(first.toString());
                            }
                            return null;
                        }));
    }
}
