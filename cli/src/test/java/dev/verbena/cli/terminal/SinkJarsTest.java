package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.HeldPort;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.Sinks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Sinks of modules that no test has on its class path. */
class SinkJarsTest {
    @Test
    void shouldUseTheDriverThatComesWithASink() {
        Path jars = Path.of(System.getProperty("verbena.home", ".."), "sink-postgres/target/lib");
        Assumptions.assumeTrue(Files.isDirectory(jars), "sink-postgres is not built");
        try (HeldPort port = new HeldPort()) {
            String uri = "postgres://user@127.0.0.1:" + port.port() + "/base";
            try (Sink sink = Sinks.of(uri, SinkJars.loader(uri, null))) {
                assertThatThrownBy(sink::open)
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("refused");
            }
        }
    }
}
