/**
 * How messages of all ranks become steps: changes with when a step is complete and what it may
 * take.
 *
 * <p>{@code StepAssembler} admits messages within the bounds, collects them in an {@code OpenStep}
 * of the {@code StepGroup} of their application, and hands a step to the user's handler when it is
 * complete, given up or over its deadline. A message that is not admitted stays in its connection,
 * see {@code StepWait}.
 *
 * <p>Knows nothing of connections and files: a message is a {@code StepPart}, a server's stream a
 * {@code StepSource}. Owned by the receiver's agent.
 */
package dev.verbena.dart.step;
