/**
 * What a receiver knows of streams and messages, and how it survives a crash: changes with the
 * journal and with how files get their names.
 *
 * <p>{@code InboundStream} and {@code InboundMessage} are the state of what arrives; they are here
 * because all that remembers them reads and restores them. {@code MessageFiles} writes the file of
 * a message, {@code MessageNaming} gives it its name, {@code ReceiverJournal} remembers what was
 * acknowledged and promised; {@code ReceiverRecovery} takes up what an earlier receiver left, read
 * by {@code JournalReader}. {@code MessageDescriptions} says what is in each file.
 *
 * <p>Order: a file is forced, its name promised in the journal, and only then is it renamed and
 * acknowledged. Owned by the receiver's agent.
 */
package dev.verbena.dart.store;
