package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Text;
import dev.verbena.examples.pic.GrowthFit;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.PicSample;
import dev.verbena.examples.pic.RestartFile;
import dev.verbena.examples.pic.Snapshot;
import dev.verbena.examples.pic.TwoStreamTheory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;

/** Physics of a run, computed from its restart files as they arrive. One thread. */
public final class RunAnalysis {
    private final double growthTolerance;
    private final double energyTolerance;
    private final TreeMap<Long, RestartFile[]> waiting = new TreeMap<>();
    private final TreeMap<Long, Frame> frames = new TreeMap<>();
    private final List<String> faults = new ArrayList<>();
    private PicParameters parameters;
    private int processCount;
    private List<PicSample> told = List.of();
    private Pictures pictures = (step, png) -> {};

    /** Who shows pictures while the run goes on. */
    public interface Pictures {
        /** Phase space of the newest step that is analysed, a PNG file. */
        void made(long step, byte[] png);
    }

    /**
     * One step, analysed.
     *
     * @param sample computed from the particles
     * @param image phase space, a PNG file
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Frame(PicSample sample, byte[] image) {}

    /** Tolerances are relative. */
    public RunAnalysis(double growthTolerance, double energyTolerance) {
        this.growthTolerance = growthTolerance;
        this.energyTolerance = energyTolerance;
    }

    /** Shows the picture of every step that is newer than those analysed before, from now on. */
    public void showTo(Pictures next) {
        pictures = next;
    }

    /**
     * Takes a file; keeps it until those of the other processes of the step are there.
     *
     * @return true if this file completed its step
     */
    public boolean add(RestartFile file) {
        if (parameters == null) {
            parameters = file.parameters();
            processCount = file.processCount();
        }
        if (!parameters.equals(file.parameters()) || processCount != file.processCount()) {
            faults.add("rank " + file.rank() + ", step " + file.step() + ": of another run");
            return false;
        }
        if (file.samples().size() > told.size()) {
            told = List.copyOf(file.samples());
        }
        RestartFile[] files =
                waiting.computeIfAbsent(file.step(), step -> new RestartFile[processCount]);
        if (files[file.rank()] != null) {
            faults.add("rank " + file.rank() + ", step " + file.step() + ": came twice");
        }
        files[file.rank()] = file;
        if (Arrays.asList(files).contains(null)) {
            return false;
        }
        waiting.remove(file.step());
        analyse(List.of(files));
        return true;
    }

    private void analyse(List<RestartFile> files) {
        long step = files.get(0).step();
        for (RestartFile file : files) {
            if (!file.samples().equals(files.get(0).samples())) {
                faults.add("step " + step + ": rank " + file.rank() + " tells another history");
            }
        }
        try {
            PhaseImage image = new PhaseImage();
            files.forEach(image::add);
            Frame frame = new Frame(Snapshot.of(files), image.png());
            frames.put(step, frame);
            if (frames.lastKey() == step) {
                pictures.made(step, frame.image());
            }
        } catch (IllegalStateException | IllegalArgumentException e) {
            faults.add("step " + step + ": " + e.getMessage());
        }
    }

    /** Frames in order of time. */
    List<Frame> frames() {
        return List.copyOf(frames.values());
    }

    /** What was computed here from particles, in order of time. */
    public List<PicSample> computed() {
        return frames.values().stream().map(Frame::sample).toList();
    }

    /** What the simulation itself says about every step, from the latest file. */
    public List<PicSample> told() {
        return Collections.unmodifiableList(told);
    }

    /** Parameters of the run; null before the first file. */
    public PicParameters parameters() {
        return parameters;
    }

    /** Fit of the growth rate; null if the run is too short for one. */
    public GrowthFit growth() {
        return GrowthFit.of(computed());
    }

    /** Largest deviation of the total energy from its first value, relative. */
    public double energyDeviation() {
        List<PicSample> samples = computed();
        double worst = 0;
        for (PicSample sample : samples) {
            double first = samples.get(0).totalEnergy();
            worst = Math.max(worst, Math.abs(sample.totalEnergy() / first - 1));
        }
        return worst;
    }

    /** Checks of the physics. */
    public List<Check> checks() {
        if (frames.isEmpty()) {
            return List.of(
                    Check.of("physics", false, "no step arrived from all processes" + faultText()));
        }
        List<Check> checks = new ArrayList<>();
        checks.add(
                Check.of(
                        "files belong together",
                        faults.isEmpty() && waiting.isEmpty(),
                        waiting.isEmpty() && faults.isEmpty()
                                ? frames.size() + " steps from " + processCount + " processes"
                                : "incomplete steps " + waiting.keySet() + faultText()));
        checks.add(growthCheck());
        double deviation = energyDeviation();
        checks.add(
                Check.of(
                        "energy is conserved",
                        deviation <= energyTolerance,
                        Text.format(
                                "largest deviation %.3f %%, allowed %.3f %%",
                                100 * deviation, 100 * energyTolerance)));
        checks.add(sameBitsCheck());
        return checks;
    }

    private String faultText() {
        return faults.isEmpty() ? "" : "; " + String.join("; ", faults);
    }

    private Check growthCheck() {
        String name = "growth rate as in theory";
        double theory = TwoStreamTheory.growthRate(parameters);
        if (theory == 0) {
            double largest = 0;
            for (PicSample sample : computed()) {
                largest = Math.max(largest, sample.fieldEnergy() / sample.totalEnergy());
            }
            return Check.of(
                    name,
                    largest < 0.01,
                    Text.format(
                            "theory says stable; the field holds at most %.2g of the energy",
                            largest));
        }
        GrowthFit fit = growth();
        if (fit == null) {
            return Check.notJudged(
                    name, "the run is too short, or its files too rare, to see the growth end");
        }
        double ratio = fit.rate() / theory;
        return Check.of(
                name,
                Math.abs(ratio - 1) <= growthTolerance,
                Text.format(
                        "measured %.4f, theory %.4f: %+.2f %%, allowed %.2f %%",
                        fit.rate(), theory, 100 * (ratio - 1), 100 * growthTolerance));
    }

    /** Compares, bit for bit, what was computed here with what the simulation computed. */
    private Check sameBitsCheck() {
        String name = "receiver and simulation agree";
        int compared = 0;
        for (PicSample told : told) {
            Frame frame = frames.get(told.step());
            if (frame != null) {
                if (!frame.sample().equals(told)) {
                    return Check.of(
                            name,
                            false,
                            ("step %s: computed from the particles %s, told by "
                                            + "the simulation %s")
                                    .formatted(told.step(), frame.sample(), told));
                }
                compared++;
            }
        }
        if (compared == 0) {
            return Check.notJudged(name, "needs restart files of two steps");
        }
        return Check.of(
                name,
                true,
                "energies, momentum and amplitude of " + compared + " steps, every bit");
    }
}
