package dev.verbena.nsim.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartServer;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.world.World;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** DART's own agents on the modelled network. */
@Timeout(120)
class DartSimulationTest {
    private static DartSimulation dozens() {
        return new DartSimulation()
                .nodes(24)
                .servers(3)
                .receivers(2)
                .messages(3)
                .length(100_003)
                .buffers(4, 64 << 10);
    }

    @Test
    void shouldStageEveryByteOfDozensOfProcesses() {
        DartReport report = dozens().filled(true).run();
        assertThat(report.messages()).isEqualTo(72);
        assertThat(report.bytes()).isEqualTo(72L * 100_003);
        assertThat(report.totalNs()).isGreaterThanOrEqualTo(report.computeNs());
    }

    /** One set of class files: no second one could run here, or on hardware. */
    @Test
    @Tag("nsim-41")
    void shouldRunTheClassFilesThatEverybodyRuns() throws Exception {
        ClassLoader loader = DartServer.class.getClassLoader();
        URL root = DartServer.class.getProtectionDomain().getCodeSource().getLocation();
        assertThat(root.getPath()).doesNotContain("nsim");
        List<String> names = classFiles(Path.of(root.toURI()), "dev/verbena/dart/");
        assertThat(names).hasSizeGreaterThan(100);
        for (String name : names) {
            assertThat(Collections.list(loader.getResources(name)))
                    .as(name)
                    .singleElement()
                    .satisfies(url -> assertThat(url.toString()).contains(root.getPath()));
        }
        // What the simulator adds is beside DART, never in its packages.
        assertThat(World.class.getProtectionDomain().getCodeSource().getLocation())
                .isNotEqualTo(root);
    }

    /** From a folder of classes or a jar. */
    private static List<String> classFiles(Path root, String prefix) throws IOException {
        if (Files.isDirectory(root)) {
            try (Stream<Path> files = Files.walk(root.resolve(prefix))) {
                return files.map(file -> root.relativize(file).toString())
                        .filter(name -> name.endsWith(".class"))
                        .toList();
            }
        }
        try (JarFile jar = new JarFile(root.toFile())) {
            return jar.stream()
                    .map(JarEntry::getName)
                    .filter(name -> name.startsWith(prefix) && name.endsWith(".class"))
                    .toList();
        }
    }

    @Test
    @Tag("nsim-52")
    void shouldTakeTheSameTimesAndEventsWithSizesAlone() {
        DartReport full = dozens().filled(true).run();
        DartReport sizes = dozens().filled(false).run();
        assertThat(sizes.traceHash()).isEqualTo(full.traceHash());
        assertThat(sizes).isEqualTo(full);
        Machine machine = new Machine().set("level=message");
        DartReport flows = dozens().machine(machine).filled(true).run();
        assertThat(dozens().machine(machine).filled(false).run()).isEqualTo(flows);
        assertThat(flows.traceHash()).isNotEqualTo(full.traceHash());
    }

    @Test
    @Tag("nsim-44")
    void shouldRepeatARunEventByEvent() {
        DartReport first = dozens().run();
        assertThat(dozens().run()).isEqualTo(first);
        assertThat(dozens().length(100_004).run().traceHash()).isNotEqualTo(first.traceHash());
    }

    /** The paper's knee: processes wait once computing takes less than N times streaming. */
    @Test
    void shouldShowTheKneeWhereComputingTakesNTimesStreaming() {
        int nodes = 8;
        int length = 1 << 20;
        long rate = 100_000_000L;
        long kneeNs = nodes * (length * 1_000_000_000L / rate);
        List<Long> waits = new ArrayList<>();
        for (int per10 : new int[] {2, 5, 8, 13, 20}) {
            DartReport report =
                    new DartSimulation()
                            .nodes(nodes)
                            .servers(1)
                            .messages(8)
                            .length(length)
                            .buffers(2, length)
                            .streamRate(rate)
                            .computeNs(kneeNs * per10 / 10)
                            .run();
            waits.add(report.blockedMeanNs() / 8);
            if (per10 < 10) {
                // Streaming is the bottleneck and never idle.
                assertThat(report.receiverShare()).isGreaterThan(0.85);
            }
        }
        assertThat(waits.get(0)).isGreaterThan(waits.get(1));
        assertThat(waits.get(1)).isGreaterThan(waits.get(2));
        assertThat(waits.get(2)).isGreaterThan(kneeNs / 20);
        assertThat(waits.get(3)).isLessThan(kneeNs / 50);
        assertThat(waits.get(4)).isLessThan(kneeNs / 50);
    }

    @Test
    void shouldStageFromAThousandNodesWithSizesAlone() {
        DartReport report =
                new DartSimulation()
                        .nodes(1000)
                        .servers(8)
                        .receivers(2)
                        .messages(1)
                        .length(256 << 10)
                        .machine(new Machine().set("packet.payload=65536"))
                        .run();
        assertThat(report.messages()).isEqualTo(1000);
        assertThat(report.bytes()).isEqualTo(1000L * (256 << 10));
    }

    /** 4 GiB that are nowhere, by the way that a run with 100,000 nodes goes. */
    @Test
    void shouldStageFromTwoThousandNodesAtMessageLevel() {
        AtomicLong clock = new AtomicLong();
        DartSimulation simulation =
                new DartSimulation()
                        .nodes(2000)
                        .servers(16)
                        .messages(2)
                        .length(1 << 20)
                        .wallClock(clock::incrementAndGet)
                        .machine(new Machine().set("level=message"));
        DartReport report = simulation.run();
        assertThat(report.messages()).isEqualTo(4000);
        assertThat(report.bytes()).isEqualTo(4000L << 20);
        assertThat(report.receivers()).isEqualTo(4);
        assertThat(report.registerNs()).isBetween(19_000_000L, 1_000_000_000L);
        // Four lines of 1.25 GB/s carry it; processes wait for them, servers do not.
        assertThat(report.receiverShare()).isBetween(0.85, 1.0);
        assertThat(report.serverLineShare()).isBetween(0.2, 0.26);
        assertThat(report.blockedMeanNs()).isGreaterThan(50_000_000L);
        // Who waits is stepped when something has come for it, and not to look whether.
        assertThat(report.steps()).isLessThan(130 * report.messages());
        DartWallTimes wall = simulation.wallTimes();
        long totalNs = wall.setUpNs() + wall.bootNs() + wall.runNs() + wall.endNs();
        assertThat(totalNs).isLessThanOrEqualTo(clock.get());
        assertThat(wall.computesNs() + wall.slavesNs()).isPositive();
    }

    @Test
    void shouldNotCountTheWaitingOfTheWarmUp() {
        DartReport all = dozens().computeNs(0).run();
        DartReport later = dozens().computeNs(0).warmUp(2).run();
        assertThat(later.traceHash()).isEqualTo(all.traceHash());
        assertThat(later.blockedMeanNs()).isPositive().isLessThan(all.blockedMeanNs());
        assertThat(dozens().computeNs(0).warmUp(3).run().blockedMeanNs()).isZero();
    }

    @Test
    void shouldSayWhatIsWrongWithItsNumbers() {
        assertThatThrownBy(() -> new DartSimulation().nodes(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nodes 0");
        assertThatThrownBy(() -> dozens().progress(percent -> false).run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not all is delivered");
    }
}
