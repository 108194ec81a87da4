package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class MessagesTest {
    private static String of(IOException cause) {
        return Messages.of(new UncheckedIOException("cannot do it: " + cause, cause));
    }

    @Test
    void shouldNameNoClassesOfJava() {
        assertThat(of(new UnknownHostException("host: Name or service not known")))
                .isEqualTo("cannot do it: unknown host host: Name or service not known");
        assertThat(of(new NoSuchFileException("/x")))
                .isEqualTo("cannot do it: there is no such file or folder: /x");
        assertThat(of(new IOException("Connection reset")))
                .isEqualTo("cannot do it: Connection reset");
        assertThat(Messages.of(new FileAlreadyExistsException("/x")))
                .isEqualTo("/x: it is there already");
        assertThat(Messages.of(new ClassCastException("no")))
                .isEqualTo("java.lang.ClassCastException: no");
    }

    @Test
    void shouldKnowWhatWasTold() {
        Messages.forget();
        StringWriter err = new StringWriter();
        Messages.to(new PrintWriter(err)).onError(new IOException("it broke"));
        assertThat(err.toString()).isEqualToIgnoringNewLines("verbena: it broke");
        assertThat(Messages.wasReported("it broke")).isTrue();
        Messages.forget();
        assertThat(Messages.wasReported("it broke")).isFalse();
    }
}
