package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.zip.CRC32;

/** Colour of an application: CRC-32 of its name. */
final class JobColour {
    private JobColour() {}

    static int of(String application) {
        CRC32 crc = new CRC32();
        crc.update(application.getBytes(UTF_8));
        return (int) crc.getValue();
    }
}
