package dev.verbena.savime;

import dev.verbena.savime.wire.StgStatus;

/** Something staged failed. The status says what, the message names the dataset or command. */
public final class StagingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    /**
     * @param status one of section 4.5, or 64 for a lost server
     */
    public StagingException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** As a number; 20 PARTIAL for example. */
    public int status() {
        return status;
    }

    /** As the specification names it. */
    public String statusName() {
        return StgStatus.name(status);
    }
}
