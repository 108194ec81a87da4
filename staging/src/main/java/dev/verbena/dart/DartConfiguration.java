package dev.verbena.dart;

import dev.verbena.dart.DartException.Code;
import dev.verbena.staging.file.CheckedLines;
import java.net.URI;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * What the master publishes so that slaves and compute processes find it: a small text file of
 * {@code key=value} lines, ended by the checksum of all lines before.
 *
 * <pre>
 * version=1
 * job=6f1c...            identity of this run of the service, not the transport's job
 * epoch=1790000000000    when the master started, ms
 * transport=shm
 * url=shm://job/name?...  the master's transport
 * servers=2              servers expected, the master included
 * clients=4              compute processes expected, 0 if unknown
 * crc=1a2b3c4d           CRC-32C of the bytes before this line, hexadecimal
 * </pre>
 *
 * <p>The two-line form of later DART versions is read too: {@code P2TNID=} address (a URI, or what
 * precedes the colon in one), {@code P2TPID=} process id or port. Environment variables of the same
 * two names, and {@code VERBENA_DART_URL} and {@code VERBENA_DART_JOB}, override the file.
 *
 * @param job identity of the run; {@link #NO_JOB} if the file does not say
 * @param epochMs when the master started
 * @param url address of the master's transport
 * @param serverCount servers expected, the master included
 * @param clientCount compute processes expected, 0 if unknown
 */
public record DartConfiguration(UUID job, long epochMs, URI url, int serverCount, int clientCount) {
    /** Stands for a job that is not known. */
    public static final UUID NO_JOB = new UUID(0, 0);

    /** Overrides the file's {@code url}. */
    public static final String URL_VARIABLE = "VERBENA_DART_URL";

    /** Overrides the file's {@code job}. */
    public static final String JOB_VARIABLE = "VERBENA_DART_JOB";

    /** Legacy address, in the file and in the environment. */
    public static final String LEGACY_ADDRESS = "P2TNID";

    /** Legacy process id or port, in the file and in the environment. */
    public static final String LEGACY_PROCESS = "P2TPID";

    public static final int LENGTH_MAX = 4096;

    /** Scheme of the master's transport. */
    public String transport() {
        return url.getScheme();
    }

    /** The file's text. */
    public String encode() {
        String lines =
                "version=1\njob=%s\nepoch=%s\ntransport=%s\nurl=%s\nservers=%s\nclients=%s\n"
                        .formatted(job, epochMs, transport(), url, serverCount, clientCount);
        return CheckedLines.encode(lines);
    }

    /** The two-line form, for programs that read only that. */
    public String encodeLegacy() {
        return LEGACY_ADDRESS + "=" + url + "\n" + LEGACY_PROCESS + "=" + epochMs + "\n";
    }

    /**
     * Reads either form.
     *
     * @throws DartException {@link DartException.Code#MALFORMED} naming the line; a reader that
     *     waits takes it as not yet complete
     */
    public static DartConfiguration parse(String text) {
        try {
            Map<String, String> values = CheckedLines.parseUnchecked(text, LENGTH_MAX);
            return values.containsKey(LEGACY_ADDRESS)
                    ? legacy(values.get(LEGACY_ADDRESS), values.get(LEGACY_PROCESS), "portals")
                    : fromValues(CheckedLines.parse(text, LENGTH_MAX));
        } catch (IllegalArgumentException e) {
            throw malformed(e.getMessage());
        }
    }

    /**
     * What applies where these environment variables are set: they win over the file.
     *
     * @param file what the file says, or null if there is none
     * @param variables looks a variable up, null if it is not set
     * @return null if there is neither
     */
    public static DartConfiguration override(
            DartConfiguration file, UnaryOperator<String> variables) {
        String url = variables.apply(URL_VARIABLE);
        String job = variables.apply(JOB_VARIABLE);
        String legacyAddress = variables.apply(LEGACY_ADDRESS);
        DartConfiguration base = file;
        if (url != null && !url.isEmpty()) {
            base = withUrl(file, uri(URL_VARIABLE, url));
        } else if (legacyAddress != null && !legacyAddress.isEmpty()) {
            String scheme = file == null ? "portals" : file.transport();
            base =
                    withUrl(
                            file,
                            legacy(legacyAddress, variables.apply(LEGACY_PROCESS), scheme).url);
        }
        if (base != null && job != null && !job.isEmpty()) {
            base =
                    new DartConfiguration(
                            uuid(JOB_VARIABLE, job),
                            base.epochMs,
                            base.url,
                            base.serverCount,
                            base.clientCount);
        }
        return base;
    }

    private static DartConfiguration withUrl(DartConfiguration file, URI url) {
        return file == null
                ? new DartConfiguration(NO_JOB, 0, url, 0, 0)
                : new DartConfiguration(
                        file.job, file.epochMs, url, file.serverCount, file.clientCount);
    }

    private static DartConfiguration legacy(String address, String process, String scheme) {
        String url = address.trim();
        if (!url.contains("://")) {
            String suffix = process == null || process.isBlank() ? "" : ":" + process.trim();
            url = scheme + "://" + url + suffix;
        }
        return new DartConfiguration(NO_JOB, 0, uri(LEGACY_ADDRESS, url), 0, 0);
    }

    private static DartConfiguration fromValues(Map<String, String> values) {
        String version = CheckedLines.need(values, "version");
        if (!version.equals("1")) {
            throw malformed("version=" + version + ", this program knows 1");
        }
        DartConfiguration read =
                new DartConfiguration(
                        uuid("job", CheckedLines.need(values, "job")),
                        CheckedLines.needNumber(values, "epoch", Long.MAX_VALUE),
                        uri("url", CheckedLines.need(values, "url")),
                        (int) CheckedLines.needNumber(values, "servers", 1 << 16),
                        (int) CheckedLines.needNumber(values, "clients", 1 << 24));
        if (!read.transport().equals(CheckedLines.need(values, "transport"))) {
            throw malformed("transport=" + values.get("transport") + " but url=" + read.url);
        }
        return read;
    }

    private static UUID uuid(String key, String text) {
        try {
            return UUID.fromString(text.trim());
        } catch (IllegalArgumentException e) {
            throw malformed(key + "=" + text + " is not a UUID");
        }
    }

    private static URI uri(String key, String text) {
        try {
            URI uri = URI.create(text.trim());
            if (uri.getScheme() != null) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // reported below
        }
        throw malformed(key + "=" + text + " is not an address with a scheme");
    }

    private static DartException malformed(String what) {
        return Code.MALFORMED.because("DART configuration: " + what);
    }
}
