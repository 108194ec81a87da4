package dev.verbena.staging.sink;

/** What a module with a sink offers through {@link java.util.ServiceLoader}. */
public interface SinkProvider {
    /** What its URIs begin with, without the colon. */
    String scheme();

    /** How its URIs look, for people. */
    String form();

    /**
     * The sink of this URI. It need not be reachable yet.
     *
     * @throws IllegalArgumentException if the URI is not of that form
     */
    Sink create(String uri);
}
