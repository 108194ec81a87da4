package dev.verbena.nsim.scenario;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;

/** A program together with the machine that it is usually run on. */
public interface Scenario {
    /** As the command line names it. */
    String name();

    /** One sentence. */
    String description();

    /** Sets what differs from Table 1, and the topology for a number of processes. */
    void prepare(Machine machine, int processes);

    /** How many processes share a node. */
    int perNode();

    /** The program. */
    Program program(int processes, ScenarioOptions options);

    /** The one line that a person wants to know. */
    String result(SimulationResult result);
}
