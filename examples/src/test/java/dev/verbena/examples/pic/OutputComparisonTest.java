package dev.verbena.examples.pic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OutputComparisonTest {
    private static final PicDeck DECK =
            PicDeck.parse("test", List.of("processes = 1", "restart.size = 16 kB", "cells = 32"));

    private final Map<String, byte[]> taken = new HashMap<>();
    private final List<OutputMode> order = new ArrayList<>();
    private final List<Long> references = new ArrayList<>();
    private long nowNs;

    /** Takes as long as it is told, on a clock that only it moves. */
    private RestartOutput output(OutputMode mode, long writeNs, long drainNs) {
        return new RestartOutput() {
            @Override
            public void write(RestartFile file, String name) {
                nowNs += writeNs;
                order.add(mode);
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                file.write(
                        (item, buffer) -> {
                            byte[] part = new byte[buffer.remaining()];
                            buffer.get(part);
                            bytes.writeBytes(part);
                        });
                taken.put(name, bytes.toByteArray());
            }

            @Override
            public void drain() {
                nowNs += drainNs;
            }
        };
    }

    private List<StallSample> compare(Map<OutputMode, RestartOutput> outputs) {
        OutputComparison.Listener listener =
                new OutputComparison.Listener() {
                    @Override
                    public void onStep(long done, long total, OutputMode mode) {
                        nowNs += 1_000;
                        assertThat(done).isLessThanOrEqualTo(total);
                    }

                    @Override
                    public void onReference(RestartFile file) {
                        references.add(file.step());
                    }
                };
        OutputComparison comparison =
                new OutputComparison(
                        DECK,
                        OutputComparison.Plan.of(DECK),
                        0,
                        PicExchange.ALONE,
                        outputs,
                        () -> nowNs,
                        listener);
        RestartFile origin =
                PicSimulation.start(DECK.parameters(), 0, 1, PicExchange.ALONE).restartFile();
        return comparison.run(origin.copy());
    }

    private Map<OutputMode, RestartOutput> outputs() {
        Map<OutputMode, RestartOutput> outputs = new EnumMap<>(OutputMode.class);
        outputs.put(OutputMode.NONE, output(OutputMode.NONE, 1, 0));
        outputs.put(OutputMode.CACHED, output(OutputMode.CACHED, 4_000_000, 30));
        outputs.put(OutputMode.FILES, output(OutputMode.FILES, 5_000_000, 0));
        outputs.put(OutputMode.WRITER, output(OutputMode.WRITER, 2_000_000, 40));
        outputs.put(OutputMode.ITEMS, output(OutputMode.ITEMS, 3_000_000, 10));
        outputs.put(OutputMode.WHOLE, output(OutputMode.WHOLE, 1_000_000, 20));
        return outputs;
    }

    @Test
    void shouldChargeEachWayOfOutputWithItsOwnStall() {
        List<StallSample> samples = compare(outputs());
        assertThat(samples).hasSize(2 * 6 * 3);
        for (StallSample sample : samples) {
            long own =
                    switch (sample.mode()) {
                        case NONE -> 1;
                        case CACHED -> 4_000_000;
                        case FILES -> 5_000_000;
                        case WRITER -> 2_000_000;
                        case ITEMS -> 3_000_000;
                        case WHOLE -> 1_000_000;
                    };
            assertThat(sample.stallNs()).as("%s", sample).isEqualTo(own);
            assertThat(sample.computeNs()).isEqualTo(4 * 1_000);
            boolean isLast = sample.step() == 12;
            long drain =
                    switch (sample.mode()) {
                        case NONE, FILES -> 0;
                        case CACHED -> 30;
                        case WRITER -> 40;
                        case ITEMS -> 10;
                        case WHOLE -> 20;
                    };
            assertThat(sample.drainNs()).isEqualTo(isLast ? drain : 0);
        }
    }

    @Test
    void shouldGiveEveryWayTheSameBytesInTurnsAndInTheOppositeOrder() {
        compare(outputs());
        assertThat(references).containsExactly(4L, 8L, 12L);
        for (long step : references) {
            byte[] first = taken.get(OutputComparison.name(OutputMode.NONE, 0, step, 0));
            for (int round = 0; round < 2; round++) {
                for (OutputMode mode : OutputMode.values()) {
                    assertThat(taken.get(OutputComparison.name(mode, round, step, 0)))
                            .isEqualTo(first);
                }
            }
        }
        List<OutputMode> rounds = order.subList(12, order.size());
        assertThat(rounds.subList(0, 18)).isSorted();
        assertThat(rounds.subList(18, 36)).isSortedAccordingTo(java.util.Comparator.reverseOrder());
    }

    @Test
    void shouldNotOutlastTheRunItself() {
        PicDeck rare = PicDeck.parse("rare", List.of("restart.every = 50", "steps = 100"));
        assertThat(OutputComparison.Plan.of(rare)).isEqualTo(new OutputComparison.Plan(1, 2));
        PicDeck usual = PicDeck.parse("usual", List.of());
        OutputComparison.Plan plan = OutputComparison.Plan.of(usual);
        assertThat(plan).isEqualTo(new OutputComparison.Plan(2, 3));
        assertThat(5 * 2 + 3 * plan.names(4, 0).size()).isEqualTo(PicProgram.COMPARED_FILES_MAX);
    }

    @Test
    void shouldReadBackWhatItWritesAndRefuseTheRest() {
        StallSample sample = new StallSample(OutputMode.ITEMS, 1, 2, 3, 4, 5, 6, 7);
        assertThat(StallSample.decode(sample.encode())).isEqualTo(sample);
        for (String line : List.of("", "items,1", "items,1,2,3,4,5,6,-7", "x,1,2,3,4,5,6,7")) {
            assertThatThrownBy(() -> StallSample.decode(line))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldWriteFilesThatCanBeReadBackAndNameTheOneThatItCannotWrite(@TempDir Path folder)
            throws Exception {
        PicSimulation simulation = PicSimulation.start(DECK.parameters(), 0, 1, PicExchange.ALONE);
        FileOutput output = new FileOutput(folder, ByteBuffer.allocateDirect(64), true);
        output.write(simulation.restartFile(), "x.vpic");
        assertThat(RestartFile.read(folder.resolve("x.vpic")).places())
                .isEqualTo(simulation.restartFile().places());
        assertThat(Files.size(folder.resolve("x.vpic")))
                .isEqualTo(simulation.restartFile().length());
        FileOutput nowhere =
                new FileOutput(folder.resolve("absent"), ByteBuffer.allocateDirect(8), false);
        assertThatThrownBy(() -> nowhere.write(simulation.restartFile(), "y.vpic"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("absent/y.vpic");
    }

    @Test
    void shouldWriteWhatTheFileWasWhileTheSimulationGoesOnInTheBackground(@TempDir Path folder)
            throws Exception {
        PicSimulation simulation = PicSimulation.start(DECK.parameters(), 0, 1, PicExchange.ALONE);
        Map<String, RestartFile> handedOver = new HashMap<>();
        try (BackgroundOutput output =
                new BackgroundOutput(folder, ByteBuffer.allocateDirect(64), 2)) {
            for (int i = 0; i < 20; i++) {
                handedOver.put(i + ".vpic", simulation.restartFile().copy());
                output.write(simulation.restartFile(), i + ".vpic");
                simulation.advance();
            }
            output.drain();
            handedOver.forEach(
                    (name, file) -> {
                        RestartFile written = RestartFile.read(folder.resolve(name));
                        assertThat(written.places()).isEqualTo(file.places());
                        assertThat(written.step()).isEqualTo(file.step());
                    });
            output.write(simulation.restartFile(), "absent/y.vpic");
            assertThatThrownBy(output::drain)
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("absent/y.vpic");
        }
    }
}
