package dev.verbena.nsim.world;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.DurableStore;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of a simulated disk. */
@Timeout(60)
class SimulatedStoreTest {
    private final World world = new World(1, TreeTopology.single(2), new NetworkContext());

    @AfterEach
    void closeWorld() {
        world.close();
    }

    @Test
    void shouldRefuseADiskThatTakesNoTime() {
        assertThatThrownBy(() -> world.disks(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("forcing takes 0 ns; at least 1");
        assertThat(world.disks(1)).isSameAs(world);
    }

    @Test
    void shouldLeaveAFileAsItIsWhenItIsCreatedAgain() throws Exception {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[600]);
        bytes.setMemory(0, 600, (byte) 7);
        try (DurableStore store = world.host("a").start("writer").store("data")) {
            DurableStore.DurableFile first = store.create("file");
            first.append(bytes, 0, 600);
            first.force();
            world.run(10_000_000_000L);
            DurableStore.DurableFile second = store.create("file");
            assertThat(second.error()).isEqualTo("cannot append to file: it is there already");
            assertThat(second.append(bytes, 0, 1)).isEqualTo(-1);
            assertThat(store.read("file").length()).isEqualTo(600);
            assertThat(first.append(bytes, 0, 600)).isEqualTo(600);
        }
        world.crash(world.host("a"));
        assertThat(world.disk("a", "data").content("file"))
                .as("what was forced is safe")
                .hasSizeGreaterThanOrEqualTo(600)
                .startsWith(bytes.byteArray());
    }
}
