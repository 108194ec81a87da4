package dev.verbena.nsim.scenario;

import java.util.List;

/**
 * A curve of a figure: runs with many numbers of processes.
 *
 * @param name for people
 * @param processesMax the largest number of processes that it has
 * @param measure what it shows of each run; null: what the scenario shows
 * @param settings {@code key=value} of the machine, or parameters of the scenario
 */
public record Curve(String name, int processesMax, Measure measure, List<String> settings) {}
