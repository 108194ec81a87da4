package dev.verbena.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** One run of the command inside the test's process. */
record Run(int code, String out, String err) {
    static Run of(String... arguments) {
        return of(80, arguments);
    }

    /** On a terminal of this width. */
    static Run of(int width, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code =
                VerbenaCommand.run(
                        () -> width, new PrintWriter(out), new PrintWriter(err), arguments);
        return new Run(code, out.toString(), err.toString());
    }
}
