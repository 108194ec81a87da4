package dev.verbena.nessie.service;

/** How a request to an array server ended. */
public enum ArrayStatus {
    OK,
    /** The name, the type, a box or the length of the memory is no possible one. */
    BAD_REQUEST,
    /** There is no such array or version. */
    UNKNOWN,
    /** The version has another shape or type. */
    MISMATCH,
    /** The box lies outside the array. */
    OUTSIDE,
    /** Another piece has an element of the box. */
    OVERLAP,
    /** The version is sealed: it takes no more pieces. */
    SEALED,
    /** No pieces cover the box: not now, or never if the version is sealed. */
    NOT_COVERED,
    /** The deadline has passed. */
    DEADLINE,
    /** More bytes or pieces than the server takes. */
    TOO_LARGE,
    /** Too many requests wait. */
    BUSY,
    /** The request was meant for another server. */
    WRONG_SERVER,
    /** Memory, network or disk failed. */
    FAILED;

    /** The status of this number; {@code FAILED} for one that is not known here. */
    static ArrayStatus of(int code) {
        return code >= 0 && code < values().length ? values()[code] : FAILED;
    }
}
