package dev.verbena.nessie.xdr;

import java.util.function.Supplier;

/**
 * A procedure of a program in a {@code .x} file. Immutable, thread-safe.
 *
 * @param name as in the file
 * @param program number of its program
 * @param version number of its version
 * @param number of the procedure; Nessie's opcode
 * @param arguments makes an object that arguments are decoded into
 * @param result makes an object that a result is decoded into
 */
public record XdrOperation<A extends XdrValue, R extends XdrValue>(
        String name,
        int program,
        int version,
        int number,
        Supplier<A> arguments,
        Supplier<R> result) {}
