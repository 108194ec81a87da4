package dev.verbena.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.rdma.calls.verbscalls;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.TestJvm;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Opening libibverbs in JVMs of their own, because it happens once in a JVM. */
@Timeout(120)
class VerbsAccessTest {
    /** What the child JVMs run. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) {
            System.out.println("verbs: " + VerbsAccess.unavailabilityCause());
            System.out.println("rdmacm: " + VerbsAccess.rdmaCmUnavailabilityCause());
            System.out.println("softnic: " + NativeAccess.unavailabilityCause());
            System.out.println("fork: " + verbscalls.vv_fork_init());
            VerbsAccess.open();
        }
    }

    @Test
    void shouldOpenWhatTheMachineHas() throws Exception {
        assertThat(java()).contains("verbs: null", "rdmacm: null").doesNotContain("Exception");
    }

    @Test
    void shouldSayWhatToInstallWhereThereIsNoLibibverbs() throws Exception {
        assertThat(java("-Dverbena.ibverbs=libnothere.so.1"))
                .contains("verbs: libnothere.so.1 cannot be opened")
                .contains("apt-get install libibverbs1")
                .doesNotContain("\0") // the text comes in a longer field
                .contains("softnic: null")
                // What is called all the same says "not supported" (95) instead of jumping to 0.
                .contains("fork: -95")
                .contains("IllegalStateException");
    }

    @Test
    void shouldOpenVerbsWhereThereIsNoRdmaCm() throws Exception {
        assertThat(java("-Dverbena.rdmacm=/nowhere/librdmacm.so"))
                .contains("verbs: null")
                .contains("rdmacm: /nowhere/librdmacm.so cannot be opened")
                .doesNotContain("\0")
                .doesNotContain("IllegalStateException");
    }

    @Test
    void shouldRefuseALibraryThatIsAnother() throws Exception {
        assertThat(java("-Dverbena.ibverbs=libm.so.6")).contains("libm.so.6 has no function");
    }

    private static String java(String... flags) throws Exception {
        String classPath = System.getProperty("java.class.path");
        return TestJvm.run(Child.class, classPath, List.of(flags)).output();
    }
}
