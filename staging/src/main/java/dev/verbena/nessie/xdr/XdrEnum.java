package dev.verbena.nessie.xdr;

/** Implemented by each generated enum. */
public interface XdrEnum {
    /** The number that is encoded. */
    int value();
}
