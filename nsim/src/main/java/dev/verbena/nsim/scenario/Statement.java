package dev.verbena.nsim.scenario;

/** What a line of a scenario file's program does for one rank. */
@FunctionalInterface
interface Statement {
    void run(Frame frame);
}
