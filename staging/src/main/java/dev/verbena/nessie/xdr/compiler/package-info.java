/**
 * The compiler of {@code .x} files: the language of RFC 4506 and of rpcgen, to Java 17.
 *
 * <p>{@link dev.verbena.nessie.xdr.compiler.XdrCompiler} takes text and answers text. {@code
 * XdrLexer} and {@code XdrParser} read, {@code XdrTypes} resolves names and checks sizes and
 * circles, {@code JavaField} decides what each declaration is in Java, and the writers write a file
 * for each type.
 */
package dev.verbena.nessie.xdr.compiler;
