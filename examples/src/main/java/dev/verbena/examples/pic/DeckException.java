package dev.verbena.examples.pic;

/** An input deck is wrong; the message names file, line, value and what is allowed. */
public final class DeckException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** A message for people. */
    public DeckException(String message) {
        super(message);
    }
}
