package dev.verbena.nsim.internal;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Suggests a known word for an unknown one. */
public final class Suggestions {
    private Suggestions() {}

    /**
     * The place of a word among others, in any case of letters.
     *
     * @param what how the error begins
     * @throws IllegalArgumentException if it is none of them
     */
    public static int choose(String what, String word, List<String> words) {
        for (int i = 0; i < words.size(); i++) {
            if (words.get(i).equalsIgnoreCase(word)) {
                return i;
            }
        }
        throw new IllegalArgumentException(
                "%s is none of %s%s".formatted(what, String.join(", ", words), hint(word, words)));
    }

    /**
     * A question behind a message of an error: "; did you mean 'x'?", or nothing where no word is
     * near.
     */
    public static String hint(String word, Collection<String> words) {
        String best = null;
        int least = Math.max(1, word.length() / 3) + 1;
        for (String each : words) {
            int distance = distance(word.toLowerCase(Locale.ROOT), each.toLowerCase(Locale.ROOT));
            if (distance < least) {
                least = distance;
                best = each;
            }
        }
        return best == null ? "" : "; did you mean '" + best + "'?";
    }

    /** How many letters must be changed, added or left out; two that changed places count once. */
    static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] =
                        Math.min(d[i - 1][j - 1] + change, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
                boolean isSwapped =
                        i > 1
                                && j > 1
                                && a.charAt(i - 1) == b.charAt(j - 2)
                                && a.charAt(i - 2) == b.charAt(j - 1);
                if (isSwapped) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
