package dev.verbena.examples.pic;

/** Takes restart files away from a simulation. One thread. */
interface RestartOutput {
    /** The stub: takes nothing. */
    RestartOutput NONE = (file, name) -> {};

    /**
     * Takes a file; returns when the simulation may go on.
     *
     * @param file the simulation's own arrays, which change when it goes on
     * @param name of the file
     */
    void write(RestartFile file, String name);

    /** Returns when everything taken is safely stored. */
    default void drain() {}
}
