/**
 * What ranks do. A {@link dev.verbena.nsim.program.Program} is called once per rank and says what
 * it would do; that is recorded as a script of a few bytes per operation, and a state machine of a
 * few bytes per rank plays it in virtual time. So a million ranks need no million threads. What a
 * rank does cannot depend on times or on data, which do not exist here.
 */
package dev.verbena.nsim.program;
