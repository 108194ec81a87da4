package dev.verbena.nsim.program;

/** Says what one rank does; called once per rank, before virtual time begins. */
@FunctionalInterface
public interface Program {
    /** Records what the rank does. */
    void run(Rank rank);
}
