package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.program.Program;
import java.util.List;

/** A program together with the machine that it is usually run on. */
public interface Scenario {
    /** As the command line names it. */
    String name();

    /** One sentence. */
    String description();

    /**
     * Sets what differs from Table 1, and the topology for a number of processes.
     *
     * @throws IllegalArgumentException if it cannot have so many processes; says what it needs
     */
    void prepare(Machine machine, int processes, ScenarioOptions options);

    /** How many processes share a node. */
    int perNode();

    /** The program. */
    Program program(int processes, ScenarioOptions options);

    /** What a person wants to know of a run. */
    Measure measure();

    /** Numbers of processes that its figure shows; may be empty. */
    List<Integer> figure();

    /** The curves of its figure; one without settings if the scenario names none. */
    List<Curve> curves();

    /** Whether a setting is a parameter of this scenario, and not of the machine. */
    boolean isParameter(String name);
}
