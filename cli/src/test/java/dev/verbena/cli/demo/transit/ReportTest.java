package dev.verbena.cli.demo.transit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.HeadlessBrowser;
import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.PicExchange;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.PicSimulation;
import dev.verbena.examples.pic.RestartFile;
import dev.verbena.examples.pic.StallSample;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ReportTest {
    private static final PicParameters PARAMETERS =
            new PicParameters(60_000, 64, 10.2604, 0.2, 1.0, 0.02, 0.002, 1);
    private static final RunAnalysis ANALYSIS = new RunAnalysis(0.03, 0.01);
    private static final StagingRecord STAGING = new StagingRecord();
    private static final Timeline TIMELINE = new Timeline();

    @BeforeAll
    static void run() {
        PicSimulation simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
        for (int i = 1; i <= 100; i++) {
            simulation.advance();
            TIMELINE.add(Timeline.STEP, i * 50_000_000L, i);
            if (i == 52) {
                TIMELINE.add(Timeline.KILLED, i * 50_000_000L + 1, 4711);
                TIMELINE.add(Timeline.BACK, i * 50_000_000L + 1_500_000_000L, 4712);
            }
            if (i % 4 == 0) {
                RestartFile file = copy(simulation.restartFile());
                assertThat(ANALYSIS.add(file)).isTrue();
                STAGING.add(new StagingRecord.Arrival(0, i, file.length(), 0, i * 50_000_000L));
                STAGING.add(
                        new StagingRecord.Cost(
                                0,
                                i,
                                file.length(),
                                1,
                                900,
                                12_000,
                                400_000,
                                700_000,
                                45_000_000L));
            }
        }
        STAGING.compared(25, 25);
        stalls(STAGING, 200_000_000, 20_000_000);
    }

    /** As if two processes had been measured twice; the second is always twice as slow. */
    private static void stalls(StagingRecord staging, long writerNs, long wholeNs) {
        for (OutputMode mode : OutputMode.values()) {
            long stall =
                    switch (mode) {
                        case NONE -> 50;
                        case CACHED -> 70_000_000;
                        case FILES -> 150_000_000;
                        case WRITER -> writerNs;
                        case ITEMS -> 90_000_000;
                        case WHOLE -> wholeNs;
                    };
            for (int i = 0; i < 8; i++) {
                long mine = i % 2 == 0 ? stall / 2 : stall;
                long drain = i < 4 ? 0 : 5_000_000;
                staging.add(
                        new StallSample(
                                mode, 0, i % 2, 4 + i / 4 * 4, 1000, mine, 300_000_000, drain));
            }
        }
    }

    static RestartFile copy(RestartFile file) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        file.write(
                (name, item) -> {
                    byte[] bytes = new byte[item.remaining()];
                    item.get(bytes);
                    out.writeBytes(bytes);
                });
        return RestartFile.decode("copy", ByteBuffer.wrap(out.toByteArray()));
    }

    private static RunInfo info() {
        return new RunInfo("shm", 2, 1, true, 100, Map.of("Host", "<b>&\"quoted\"</b>"));
    }

    private static Report report(StagingRecord staging) {
        return new Report(info(), ANALYSIS, staging, TIMELINE, ANALYSIS.checks());
    }

    @Test
    void shouldSayInOneSentenceWhatWasMeasuredWhicheverWayItWent() {
        assertThat(report(STAGING).sentence())
                .isEqualTo(
                        "At every output, a background thread that writes files stalled the"
                                + " simulation for 200 ms; handing them to Verbena stalled it for"
                                + " 20 ms, 10 times less.");
        StagingRecord slow = new StagingRecord();
        stalls(slow, 8_000_000, 20_000_000);
        assertThat(report(slow).sentence())
                .endsWith(
                        "for 8.00 ms; handing them to Verbena stalled it for 20 ms, 2.5 times more.");
        StagingRecord same = new StagingRecord();
        stalls(same, 20_100_000, 20_000_000);
        assertThat(report(same).sentence()).endsWith("20 ms, which is no clear difference.");
        StagingRecord own = new StagingRecord();
        own.add(new StagingRecord.Cost(0, 4, 1, 1, 0, 0, 0, 4_000_000, 1));
        own.add(new StagingRecord.Cost(1, 4, 1, 1, 0, 0, 0, 6_000_000, 1));
        own.add(new StagingRecord.Cost(0, 8, 1, 1, 0, 0, 0, 8_000_000, 1));
        assertThat(report(own).sentence())
                .contains("for 7.00 ms (mean of 2 outputs, 6.00 ms to 8.00 ms); other ways");
        assertThat(report(new StagingRecord()).sentence()).contains("was not measured");
    }

    @Test
    void shouldCountTheSlowestProcessOfEachOutput() {
        StallFigures figures = new StallFigures(STAGING.stalls());
        StallFigures.Figure writer = figures.of(OutputMode.WRITER);
        assertThat(writer.stall().count()).isEqualTo(2);
        assertThat(writer.stall().mean()).isEqualTo(200_000_000);
        assertThat(writer.whole().mean()).isEqualTo(500_000_000);
        assertThat(writer.drain().count()).isEqualTo(1);
        assertThat(writer.drain().mean()).isEqualTo(5_000_000);
        assertThat(figures.of(OutputMode.WHOLE).stall().most()).isEqualTo(20_000_000);
    }

    @Test
    void shouldCallADifferenceClearOnlyBeyondTheSpread() {
        Spread steady = Spread.of(new double[] {10, 11, 12, 11});
        assertThat(steady.mean()).isEqualTo(11);
        assertThat(steady.deviation()).isCloseTo(0.816, within(0.001));
        assertThat(steady.differsFrom(Spread.of(new double[] {14, 15, 14, 15}))).isTrue();
        assertThat(steady.differsFrom(Spread.of(new double[] {2, 40, 3, 13}))).isFalse();
        assertThat(Spread.of(new double[0]).text()).isEqualTo("-");
        assertThat(Spread.of(new double[] {0, 40_000, 80_000}).text())
                .isEqualTo("0.04 ms (< 0.01 ms to 0.08 ms)");
    }

    @Test
    void shouldCheckThatTheSimulationWentOnWithoutAReceiver() {
        assertThat(report(STAGING).checks())
                .filteredOn(check -> check.name().contains("without a receiver"))
                .extracting(Check::outcome)
                .containsExactly(Check.Outcome.PASSED);
        assertThat(TIMELINE.outageSteps()).isEqualTo(30);
        Timeline over = new Timeline();
        over.add(Timeline.STEP, 1, 100);
        over.add(Timeline.KILLED, 2, 1);
        over.add(Timeline.BACK, 90_000, 2);
        assertThat(over.check().outcome()).isEqualTo(Check.Outcome.NOT_JUDGED);
    }

    /** 50 steps of 100 ms, then a kill; the receiver is back 1.8 s later. */
    private static Timeline killed() {
        Timeline timeline = new Timeline();
        for (int i = 1; i <= 50; i++) {
            timeline.add(Timeline.STEP, i * 100_000_000L, i);
        }
        timeline.add(Timeline.KILLED, 5_000_000_001L, 1);
        timeline.add(Timeline.BACK, 6_800_000_001L, 2);
        return timeline;
    }

    /**
     * As a run of the tests was: its last step writes files, and takes longer than those before.
     */
    @Test
    void shouldNotJudgeARunThatHadHardlyAStepLeftAtTheKill() {
        Timeline last = killed();
        last.add(Timeline.STEP, 5_900_000_001L, 51);
        assertThat(last.check().outcome()).isEqualTo(Check.Outcome.NOT_JUDGED);
        last.add(Timeline.STEP, 6_900_000_001L, 52);
        last.add(Timeline.STEP, 7_900_000_001L, 53);
        assertThat(last.check().outcome()).isEqualTo(Check.Outcome.NOT_JUDGED);
        last.add(Timeline.STEP, 8_900_000_001L, 54);
        assertThat(last.check().outcome()).isEqualTo(Check.Outcome.FAILED);
    }

    /** As three runs were: a few steps after the kill, and then none for seconds. */
    @Test
    void shouldFailARunThatStoodStillAfterTheKill() {
        Timeline still = killed();
        for (int i = 1; i <= 3; i++) {
            still.add(Timeline.STEP, 5_000_000_001L + i * 30_000_000L, 50 + i);
        }
        still.add(Timeline.STEP, 9_000_000_000L, 54);
        assertThat(still.check().outcome()).isEqualTo(Check.Outcome.FAILED);
        assertThat(still.check().detail())
                .contains("meanwhile 3 steps", ", 18 at its pace before", "was 3.9 s, allowed");
        Timeline held = killed();
        for (int i = 1; i <= 15; i++) {
            held.add(Timeline.STEP, 5_000_000_001L + i * 100_000_000L, 50 + i);
        }
        held.add(Timeline.STEP, 8_600_000_000L, 66);
        assertThat(held.check().outcome()).isEqualTo(Check.Outcome.FAILED);
        assertThat(held.longestGap()).isEqualTo(new Timeline.Gap(2_099_999_999L, 66));
    }

    @Test
    void shouldSayOnPageOneHowLongTheSimulationStoodStill() {
        String text =
                new PageOne(info(), STAGING, TIMELINE, new StallFigures(STAGING.stalls()))
                        .standstill();
        assertThat(text)
                .contains("output held up the simulation for 2 % of the time")
                .contains("without a completed step was 50 ms (before step 2; a step takes 50 ms")
                .endsWith("it did 30 steps; at its pace before it would have done 29.");
    }

    /** Every figure that is a mean has its n and its spread; none is 0.0000; no text is cut. */
    @Test
    void shouldShowCountAndSpreadAndCutNoSentence(@TempDir Path folder) throws Exception {
        STAGING.explanation("A long explanation. " + "It goes on. ".repeat(200) + "It ends.");
        report(STAGING).write(folder);
        String html = Files.readString(folder.resolve("report.html"));
        assertThat(html).contains("It ends.</td>").doesNotContain("0.0000 ms", "0.00 ms");
        assertThat(html)
                .contains("n = 2 outputs", "(200 ms to 200 ms)", ">n, files<", ">n, rounds<");
        assertThat(html).contains("class=\"axes\"", "class=\"scale\"", "+2.4", "7.70");
        assertThat(html).contains("process has the data in its memory: its death");
    }

    @Test
    void shouldFitAWindowOf390Pixels(@TempDir Path folder) throws Exception {
        Path browser = HeadlessBrowser.find();
        assumeThat(browser).as("no chromium on this machine: cannot open the report").isNotNull();
        report(STAGING).write(folder);
        Path page = folder.resolve("report.html");
        String probe =
                "<script>parent.postMessage(document.documentElement.scrollWidth,'*')</script>";
        Files.writeString(page, Files.readString(page).replace("</body>", probe + "</body>"));
        // Headless windows have a least width of their own; a frame has none.
        Path frame = folder.resolve("frame.html");
        Files.writeString(
                frame,
                "<script>onmessage=e=>document.body.append('width '+e.data+'.')</script>"
                        + "<iframe style=\"width:390px;border:0\" src=\"report.html\"></iframe>");
        Matcher width =
                Pattern.compile("width (\\d+)\\.")
                        .matcher(HeadlessBrowser.dump(browser, frame, folder));
        assertThat(width.find()).isTrue();
        assertThat(Integer.parseInt(width.group(1))).isLessThanOrEqualTo(390);
    }

    @Test
    void shouldFindThePhysicsInTheFiles() {
        assertThat(ANALYSIS.checks())
                .extracting(Check::outcome)
                .containsOnly(Check.Outcome.PASSED)
                .hasSize(4);
        assertThat(ANALYSIS.computed()).hasSize(25);
    }

    @Test
    void shouldNoticeAFalsifiedHistory() {
        RunAnalysis analysis = new RunAnalysis(0.03, 0.01);
        PicSimulation simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
        simulation.advance();
        analysis.add(copy(simulation.restartFile()));
        PicParameters other = new PicParameters(60_000, 64, 10.2604, 0.2, 1, 0.02, 0.002, 2);
        PicSimulation falsified = PicSimulation.start(other, 0, 1, PicExchange.ALONE);
        falsified.advance();
        falsified.advance();
        RestartFile wrong = falsified.restartFile();
        analysis.add(
                new RestartFile(
                        PARAMETERS,
                        0,
                        1,
                        2,
                        wrong.samples(),
                        wrong.field(),
                        wrong.places(),
                        wrong.speeds()));
        assertThat(analysis.checks())
                .filteredOn(check -> check.name().equals("receiver and simulation agree"))
                .extracting(Check::outcome)
                .containsExactly(Check.Outcome.FAILED);
    }

    @Test
    void shouldNoticeThatTheGrowthRateIsWrong() {
        RunAnalysis strict = new RunAnalysis(1e-6, 0.01);
        ANALYSIS.computed();
        PicSimulation simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
        for (int i = 1; i <= 100; i++) {
            simulation.advance();
            if (i % 4 == 0) {
                strict.add(copy(simulation.restartFile()));
            }
        }
        assertThat(strict.checks().get(1).outcome()).isEqualTo(Check.Outcome.FAILED);
        assertThat(strict.checks().get(1).detail()).contains("measured 0.35");
    }

    @Test
    void shouldNotJudgeWhatARunIsTooShortFor() {
        RunAnalysis analysis = new RunAnalysis(0.03, 0.01);
        PicSimulation simulation = PicSimulation.start(PARAMETERS, 0, 1, PicExchange.ALONE);
        simulation.advance();
        analysis.add(copy(simulation.restartFile()));
        assertThat(analysis.checks().get(1).outcome()).isEqualTo(Check.Outcome.NOT_JUDGED);
        assertThat(new RunAnalysis(0.03, 0.01).checks().get(0).outcome())
                .isEqualTo(Check.Outcome.FAILED);
    }

    @Test
    void shouldWriteSelfContainedFiles(@TempDir Path folder) throws Exception {
        Report report = report(STAGING);
        assertThat(report.isGood()).isTrue();
        report.write(folder);
        String html = Files.readString(folder.resolve("report.html"));
        assertThat(html).contains("&lt;b&gt;&amp;&quot;quoted&quot;").doesNotContain("<b>&\"");
        assertThat(html).doesNotContain("http://").doesNotContain("https://");
        assertThat(html).doesNotContain("<link").doesNotContain("src=\"/");
        String json = Files.readString(folder.resolve("summary.json"));
        assertThat(json).contains("\"passed\": true", "\"growthMeasured\": 0.35", "\\\"quoted\\\"");
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("report.html", "summary.json");
    }

    @Test
    void shouldShowItsPicturesInARealBrowser(@TempDir Path folder) throws Exception {
        Path browser = HeadlessBrowser.find();
        assumeThat(browser).as("no chromium on this machine: cannot open the report").isNotNull();
        report(STAGING).write(folder);
        Path page = folder.resolve("report.html");
        String dom = HeadlessBrowser.dump(browser, page, folder);
        assertThat(dom).contains("step 100, time 20.0");
        assertThat(count(dom, "<img class=\"phase\"")).isEqualTo(8);
        assertThat(count(dom, "<svg class=\"chart\"")).isEqualTo(5);
        assertThat(count(dom, "class=\"bar\"")).isEqualTo(6);
        String first =
                dom.substring(dom.indexOf("<header"), dom.indexOf("</header>"))
                        .replace("&nbsp;", " ");
        assertThat(count(first, "<h1")).isEqualTo(1);
        assertThat(first)
                .contains("stalled it for 20 ms, 10 times less.", "25 of 25 files")
                .contains("the receiving program was killed halfway", "Writing files");
        assertThat(HeadlessBrowser.colours(browser, page, folder)).isGreaterThan(1000);
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }
}
