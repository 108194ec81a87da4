package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.ObjIntConsumer;

/** One run of the command inside the test's process. */
public record Run(int code, String out, String err) {
    public static Run of(String... arguments) {
        return of(80, arguments);
    }

    /** On a terminal of this width. */
    public static Run of(int width, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code =
                VerbenaCommand.run(
                        () -> width, new PrintWriter(out), new PrintWriter(err), arguments);
        return new Run(code, out.toString(), err.toString());
    }

    /** That a text has the words of another one, in lines that are no longer than the width. */
    public static void assertFits(String text, int width, String whole) {
        assertThat(text.lines())
                .allMatch(line -> line.length() <= width || !line.strip().contains(" "));
        assertThat(text.split("\\s+")).containsExactly(whole.split("\\s+"));
    }

    /** What a command prints at this width. */
    public static String printed(int width, ObjIntConsumer<PrintWriter> command) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        command.accept(out, width);
        out.flush();
        return text.toString();
    }
}
