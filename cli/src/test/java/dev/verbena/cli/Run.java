package dev.verbena.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** One run of the command inside the test's process. */
record Run(int code, String out, String err) {
    static Run of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = VerbenaCommand.run(new PrintWriter(out), new PrintWriter(err), arguments);
        return new Run(code, out.toString(), err.toString());
    }
}
