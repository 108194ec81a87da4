/**
 * How a process is started: its checked settings, and the file by which processes find their
 * master. Changes with what can be set.
 *
 * <p>The contexts of the public package make a record of settings ({@code ClientSettings}, {@code
 * ServerSettings}, {@code ReceiverSettings}, {@code StepSettings}), which checks every value and
 * fills in what follows from others; engines read nothing else.
 *
 * <p>{@code ConfigurationFile} is written by a master and replaced as a whole; {@code JobScheme}
 * finds the transport that it names; {@code MasterLink} finds the master and connects to it, for
 * clients and slaves; {@code Assignments} says which server gets which process. Each is owned by
 * the thread that steps it.
 */
package dev.verbena.dart.config;
