package dev.verbena.savime.wire;

/** Names that a dataset may have (section 4.6): SAVIME's own rule, and the prototype's length. */
public final class DatasetNames {
    /** Most characters, all of them ASCII. */
    public static final int LENGTH_MAX = 63;

    private DatasetNames() {}

    /** Whether it is 1 to 63 letters, digits or underscores, not starting with a digit. */
    public static boolean isLegal(String name) {
        if (name.isEmpty() || name.length() > LENGTH_MAX) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean isLetter = c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_';
            if (!isLetter && (i == 0 || c < '0' || c > '9')) {
                return false;
            }
        }
        return true;
    }

    /**
     * The name itself.
     *
     * @throws IllegalArgumentException if it is not legal
     */
    public static String require(String name) {
        if (name == null || !isLegal(name)) {
            throw new IllegalArgumentException(
                    "name '%s' is not 1 to %s letters, digits or underscores that begin with no digit"
                            .formatted(name, LENGTH_MAX));
        }
        return name;
    }
}
