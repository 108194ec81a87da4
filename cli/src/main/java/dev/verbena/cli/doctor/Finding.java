package dev.verbena.cli.doctor;

/**
 * One thing that {@code verbena doctor} looked at.
 *
 * @param name what was looked at
 * @param level how bad it is
 * @param found what was found
 * @param cost what it costs; empty if nothing
 * @param remedy the command that mends it, or what to do; empty if nothing is to be done
 */
record Finding(String name, Level level, String found, String cost, String remedy) {
    /** How bad it is. */
    enum Level {
        /** As it should be. */
        OK("ok"),
        /** Costs nothing now, but good to know. */
        NOTE("note"),
        /** Works, but slower, smaller or less than it could. */
        WARNING("warning"),
        /** Something does not work. */
        WRONG("WRONG");

        final String text;

        Level(String text) {
            this.text = text;
        }
    }

    /** The same where a trial showed that it does no harm to this process. */
    Finding asNote() {
        return level == Level.WARNING ? note(name, found, cost, remedy) : this;
    }

    static Finding ok(String name, String found) {
        return new Finding(name, Level.OK, found, "", "");
    }

    static Finding note(String name, String found, String cost, String remedy) {
        return new Finding(name, Level.NOTE, found, cost, remedy);
    }

    static Finding warning(String name, String found, String cost, String remedy) {
        return new Finding(name, Level.WARNING, found, cost, remedy);
    }

    static Finding wrong(String name, String found, String cost, String remedy) {
        return new Finding(name, Level.WRONG, found, cost, remedy);
    }
}
