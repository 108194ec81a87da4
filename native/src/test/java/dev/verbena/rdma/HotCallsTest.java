package dev.verbena.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.rdma.calls.HotCalls;
import dev.verbena.softnic.TestJvm;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which way the hot calls take, in JVMs of their own, because it is chosen once in a JVM. */
@Timeout(120)
class HotCallsTest {
    private static final int FIRST_JDK = 22;
    private static final String ENABLED = "--enable-native-access=ALL-UNNAMED";

    /** What the child JVMs run. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            VerbsAccess.open();
            System.out.println("critical: " + HotCalls.areCritical());
        }
    }

    @Test
    void shouldBeCriticalCallsFromJdk22On() throws Exception {
        boolean isNew = Runtime.version().feature() >= FIRST_JDK;
        List<String> flags = isNew ? List.of(ENABLED) : List.of();
        assertThat(run(flags)).contains("critical: " + isNew).doesNotContain("WARNING");
    }

    @Test
    void shouldNotMakeTheJvmWarnMoreThanTheLibraryDoes() throws Exception {
        assertThat(run(List.of())).doesNotContain("java.lang.foreign");
    }

    @Test
    void shouldBeJniCallsIfAskedFor() throws Exception {
        assertThat(run(List.of("-D" + HotCalls.PROPERTY + "=false"))).contains("critical: false");
    }

    private static String run(List<String> flags) throws Exception {
        TestJvm.Ended ended =
                TestJvm.run(Child.class, System.getProperty("java.class.path"), flags);
        assertThat(ended.code()).as(ended.output()).isZero();
        return ended.output();
    }
}
