package dev.verbena.transport;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.agrona.ErrorHandler;

/**
 * How to open a transport. Fluent setters, defaults that suit a laptop; {@link #conclude()} checks
 * them once. Lengths are bytes, times nanoseconds. {@link Transports#open} copies it, so it may be
 * changed and used again. Not thread-safe.
 */
public final class TransportContext {
    /** Longest job and longest name, characters; providers keep them with a zero in 64 bytes. */
    public static final int NAME_LENGTH_MAX = 63;

    private static final Pattern NAME =
            Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0," + (NAME_LENGTH_MAX - 1) + "}");

    private String job =
            System.getProperty(
                    "verbena.job", System.getenv().getOrDefault("VERBENA_JOB", "default"));
    private String name = "";
    private int messageLengthMax = 4096;
    private int creditsPerConnection = 16;
    private int receiveSlotCount = 4096;
    private int outstandingMax = 4096;
    private int connectionsMax = 256;
    private long peerTimeoutNs = 5_000_000_000L;
    private long incarnation;
    private ErrorHandler errorHandler = Throwable::printStackTrace;
    private final Map<String, String> options = new LinkedHashMap<>();

    /** Everything at its default. */
    public TransportContext() {}

    /** As it is now: transports look things up in it as long as they live. */
    TransportContext copy() {
        TransportContext copy = new TransportContext();
        copy.job = job;
        copy.name = name;
        copy.messageLengthMax = messageLengthMax;
        copy.creditsPerConnection = creditsPerConnection;
        copy.receiveSlotCount = receiveSlotCount;
        copy.outstandingMax = outstandingMax;
        copy.connectionsMax = connectionsMax;
        copy.peerTimeoutNs = peerTimeoutNs;
        copy.incarnation = incarnation;
        copy.errorHandler = errorHandler;
        copy.options.putAll(options);
        return copy;
    }

    /**
     * Job that isolates this transport's segments from others of the same user; up to {@link
     * #NAME_LENGTH_MAX} letters, digits, dots, dashes, underscores, not starting with a dot.
     */
    public TransportContext job(String job) {
        this.job = job;
        return this;
    }

    /** See {@link #job(String)}. */
    public String job() {
        return job;
    }

    /** Name within the job, made of the same characters; empty: one is made up. */
    public TransportContext name(String name) {
        this.name = name;
        return this;
    }

    /** See {@link #name(String)}. */
    public String name() {
        return name;
    }

    /** Longest message, bytes: the size of a receive slot. */
    public TransportContext messageLengthMax(int messageLengthMax) {
        this.messageLengthMax = messageLengthMax;
        return this;
    }

    /** See {@link #messageLengthMax(int)}. */
    public int messageLengthMax() {
        return messageLengthMax;
    }

    /** Messages a peer may have in flight towards us, per connection; a power of two. */
    public TransportContext creditsPerConnection(int creditsPerConnection) {
        this.creditsPerConnection = creditsPerConnection;
        return this;
    }

    /** See {@link #creditsPerConnection(int)}. */
    public int creditsPerConnection() {
        return creditsPerConnection;
    }

    /** Receive slots of the whole transport; bounds connections times credits. */
    public TransportContext receiveSlotCount(int receiveSlotCount) {
        this.receiveSlotCount = receiveSlotCount;
        return this;
    }

    /** See {@link #receiveSlotCount(int)}. */
    public int receiveSlotCount() {
        return receiveSlotCount;
    }

    /** Operations accepted and not yet polled. */
    public TransportContext outstandingMax(int outstandingMax) {
        this.outstandingMax = outstandingMax;
        return this;
    }

    /** See {@link #outstandingMax(int)}. */
    public int outstandingMax() {
        return outstandingMax;
    }

    /** Connections at a time. */
    public TransportContext connectionsMax(int connectionsMax) {
        this.connectionsMax = connectionsMax;
        return this;
    }

    /** See {@link #connectionsMax(int)}. */
    public int connectionsMax() {
        return connectionsMax;
    }

    /** A peer that is frozen or unreachable for this long is lost (reported within twice that). */
    public TransportContext peerTimeoutNs(long peerTimeoutNs) {
        this.peerTimeoutNs = peerTimeoutNs;
        return this;
    }

    /** See {@link #peerTimeoutNs(long)}. */
    public long peerTimeoutNs() {
        return peerTimeoutNs;
    }

    /**
     * Tells this transport from earlier ones at its address; 0: the provider makes one up, as
     * {@code shm} does in any case. For a transport that is one of several behind one address.
     */
    public TransportContext incarnation(long incarnation) {
        this.incarnation = incarnation;
        return this;
    }

    /** See {@link #incarnation(long)}. */
    public long incarnation() {
        return incarnation;
    }

    /** Gets what cannot be thrown: a bad peer, a corrupted segment. What it throws is printed. */
    public TransportContext errorHandler(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
        return this;
    }

    /** See {@link #errorHandler(ErrorHandler)}. */
    public ErrorHandler errorHandler() {
        return errorHandler;
    }

    /**
     * Provider's own option, for example {@code foreignMemory=bounce}; unknown ones are refused by
     * the provider.
     */
    public TransportContext option(String key, String value) {
        options.put(key, value);
        return this;
    }

    /** What {@link #option} was given, in that order. */
    public Map<String, String> options() {
        return options;
    }

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value and its range
     */
    public TransportContext conclude() {
        checkName("job", job);
        notNull("name", name);
        notNull("errorHandler", errorHandler);
        options.forEach(
                (key, value) -> {
                    notNull("key of an option", key);
                    notNull("option " + key, value);
                });
        if (!name.isEmpty()) {
            checkName("name", name);
        }
        range("messageLengthMax", messageLengthMax, 64, 1 << 20);
        range("creditsPerConnection", creditsPerConnection, 1, 1 << 12);
        if (Integer.bitCount(creditsPerConnection) != 1) {
            throw new IllegalArgumentException(
                    "creditsPerConnection " + creditsPerConnection + " is not a power of two");
        }
        range("receiveSlotCount", receiveSlotCount, creditsPerConnection, 1 << 20);
        range("outstandingMax", outstandingMax, 1, 1 << 20);
        range("connectionsMax", connectionsMax, 1, 1 << 14);
        range("peerTimeoutNs", peerTimeoutNs, 1_000_000L, Long.MAX_VALUE / 4);
        return this;
    }

    /**
     * As {@link #conclude()}, of a provider that has these options.
     *
     * @throws IllegalArgumentException naming the value and its range, or the option that there is
     *     not
     */
    public TransportContext conclude(String scheme, Set<String> known) {
        conclude();
        for (String option : options.keySet()) {
            if (!known.contains(option)) {
                throw new IllegalArgumentException(
                        "%s knows no option '%s'; it knows %s"
                                .formatted(scheme, option, new TreeSet<>(known)));
            }
        }
        return this;
    }

    private static void checkName(String what, String value) {
        notNull(what, value);
        if (!NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    ("%s '%s': 1 to %s letters, digits, dots, dashes, underscores; not"
                                    + " starting with a dot")
                            .formatted(what, value, NAME_LENGTH_MAX));
        }
    }

    private static void notNull(String what, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(what + " is null");
        }
    }

    private static void range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    what + " " + value + " is outside " + min + " to " + max);
        }
    }
}
