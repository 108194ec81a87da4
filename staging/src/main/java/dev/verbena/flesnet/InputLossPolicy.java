package dev.verbena.flesnet;

/** What a compute node does when an input node is lost. */
public enum InputLossPolicy {
    /** Report the missing input, abort the run. */
    FREEZE,
    /** Go on; timeslices carry the missing-component flag. */
    SHRINK
}
