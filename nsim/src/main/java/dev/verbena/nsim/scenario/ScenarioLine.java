package dev.verbena.nsim.scenario;

/** A line of a scenario file that is not empty, without its comment. */
record ScenarioLine(String file, int number, String text) {
    /** An error that names file and line already. */
    static final class Wrong extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        Wrong(String message) {
            super(message);
        }
    }

    /** The first word. */
    String word() {
        int end = text.indexOf(' ');
        return end < 0 ? text : text.substring(0, end);
    }

    /** The text behind the first word. */
    String rest() {
        return text.substring(word().length()).strip();
    }

    boolean isWord(String expected) {
        return text.equals(expected);
    }

    /** Of this line, unless it names its own already. */
    Wrong wrong(Throwable error) {
        if (error instanceof Wrong located) {
            return located;
        }
        boolean isDeep = error instanceof StackOverflowError;
        return wrong(isDeep ? "it is nested too deeply" : error.getMessage());
    }

    Wrong wrong(String what) {
        return new Wrong(file + ":" + number + ": " + text + "\n  " + what);
    }
}
