package dev.verbena.staging.bootstrap;

import dev.verbena.staging.file.CheckedLines;
import java.net.URI;
import java.util.Map;
import java.util.UUID;

/**
 * What a {@link ServiceFile} says of a service whose protocol needs no more than this.
 *
 * @param protocol name and version, {@code stg/1} for example
 * @param service identity of this run of the service
 * @param epochMs when it started
 * @param url address of its transport
 */
public record ServiceAddress(String protocol, UUID service, long epochMs, URI url) {
    /** Most characters of the text. */
    public static final int LENGTH_MAX = 4096;

    /** The file's text. */
    public String encode() {
        return CheckedLines.encode(
                "protocol=%s\nservice=%s\nepoch=%s\nurl=%s\n"
                        .formatted(protocol, service, epochMs, url));
    }

    /**
     * Reads the file's text.
     *
     * @throws IllegalArgumentException naming what is wrong: an incomplete or damaged file, or one
     *     of another protocol
     */
    public static ServiceAddress parse(String text, String protocol) {
        Map<String, String> values = CheckedLines.parse(text, LENGTH_MAX);
        String found = CheckedLines.need(values, "protocol");
        if (!found.equals(protocol)) {
            throw new IllegalArgumentException("of protocol '" + found + "', not " + protocol);
        }
        URI url = URI.create(CheckedLines.need(values, "url"));
        if (url.getScheme() == null) {
            throw new IllegalArgumentException("url=" + url + " is not an address with a scheme");
        }
        return new ServiceAddress(
                found,
                UUID.fromString(CheckedLines.need(values, "service")),
                CheckedLines.needNumber(values, "epoch", Long.MAX_VALUE),
                url);
    }
}
