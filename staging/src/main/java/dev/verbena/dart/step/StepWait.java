package dev.verbena.dart.step;

/** For which step the next message of a stream has to wait, and since when. */
public final class StepWait {
    private long frame;
    private long sinceNs;
    private long step;
    private int rank;
    private StepGroup group;

    /** The message that begins with this frame has to wait. */
    void begin(long atFrame, long nowNs, StepGroup its, long itsStep, int itsRank) {
        frame = atFrame;
        sinceNs = nowNs;
        group = its;
        step = itsStep;
        rank = itsRank;
    }

    /** Frame that had to wait. */
    long frame() {
        return frame;
    }

    long sinceNs() {
        return sinceNs;
    }

    long step() {
        return step;
    }

    int rank() {
        return rank;
    }

    StepGroup group() {
        return group;
    }
}
