/**
 * Programs of puts and gets on a modelled interconnect, in virtual time: what a machine that one
 * does not have would need for a communication pattern. {@link dev.verbena.nsim.Simulation} runs a
 * {@link dev.verbena.nsim.program.Program} on a {@link dev.verbena.nsim.topology.Topology} and
 * answers a {@link dev.verbena.nsim.SimulationResult}.
 *
 * <p>Layers, each with a package: {@code engine} (events), {@code topology} (shapes and ways),
 * {@code network} (interfaces, routers, cables), {@code program} (what ranks do), {@code scenario}
 * (the programs of the NSIM-ACE paper). A run depends on its input alone: not on the machine, the
 * JVM or the clock.
 *
 * <p>Source: the project's specification nsim-ace.md, after R. Susukita, Y. Morie, T. Nanri, H.
 * Shibamura: "NSIM-ACE: An Interconnection Network Simulator for Evaluating Remote Direct Memory
 * Access", SIMULTECH 2016.
 */
package dev.verbena.nsim;
