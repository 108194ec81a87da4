package dev.verbena.cli.terminal;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Version of the toolkit. */
public final class Version implements IVersionProvider {
    /** The number. */
    public static String text() {
        Properties properties = new Properties();
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException("version.properties", e);
        }
        return properties.getProperty("version");
    }

    @Override
    public String[] getVersion() {
        return new String[] {"verbena " + text()};
    }
}
