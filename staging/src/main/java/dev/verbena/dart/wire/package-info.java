/**
 * What DART's processes, servers and receivers write to each other: control records over the
 * transport, frames over sockets, pieces on their way back to a process, and proofs of a secret.
 * Changes with these formats. Classes know no engine: of {@code dev.verbena.dart} they use only its
 * exception, {@code AckMode} and {@code ElementType}.
 */
package dev.verbena.dart.wire;
