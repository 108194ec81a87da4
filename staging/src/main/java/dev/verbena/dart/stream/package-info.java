/**
 * How a server's buffers get to the receiver, each once and in order: changes with what happens
 * when the receiver is slow or away.
 *
 * <p>{@code ReceiverLink} keeps a connection: it greets, sends frames, waits for acknowledgements,
 * and begins again where the receiver says. {@code HeldBuffers} is the account of what is sent and
 * not acknowledged, {@code LinkOutlet} and {@code LinkInlet} are the two directions. {@code Spill}
 * copies what the receiver does not take into files ({@code SpillWriter}, {@code SpillFiles}) and
 * delivers what an earlier server left ({@code SpillFound}).
 *
 * <p>Owned by t3. Of its server it knows a {@code StreamOwner}, and a {@code ReverseStream} for
 * what travels in the other direction.
 */
package dev.verbena.dart.stream;
