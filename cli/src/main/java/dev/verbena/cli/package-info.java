/**
 * The {@code verbena} command: demo, DART's programs, latency and bandwidth, live counters.
 *
 * <p>Exit codes: 0 done, 1 it failed, 2 wrong arguments (3, something is missing on this machine,
 * is given by the shell script that starts this program). An error is one line that names what was
 * wrong and what to do; {@code --verbose} adds the stack trace.
 *
 * <p>Programs of several processes ({@code demo}, {@code lat}, {@code bw}) start their processes
 * themselves, all from the same class path, and end exactly those, by process handle. A process
 * started so ends when its parent does: it reads its standard input, which then ends.
 */
package dev.verbena.cli;
