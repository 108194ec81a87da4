package dev.verbena.transport;

/**
 * A transport did not keep its contract; found by {@link CheckingTransport}. A bug, not a fault.
 */
public final class ContractViolationException extends TransportException {
    private static final long serialVersionUID = 1L;

    /** Names the transport and what it did. */
    public ContractViolationException(String message) {
        super(message);
    }
}
