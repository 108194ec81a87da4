package dev.verbena.staging.sink;

/**
 * Told how a sink is, on threads that hand data over. Thread-safe; returns soon and throws nothing.
 */
public interface SinkWatch {
    /** Who does not want to know. */
    SinkWatch NONE = new SinkWatch() {};

    /**
     * The sink cannot be reached, or was lost: data wait. Once until {@link #back}.
     *
     * @param why for people
     */
    default void away(String why) {}

    /** It takes data, or refuses them, again. */
    default void back() {}

    /**
     * It has taken nothing of an upload for a while ({@code sinkWedged} in the specification,
     * section 9). Again and again while that lasts; the upload goes on, because the sink may be
     * stopped for good by one that is cut short.
     */
    default void wedged() {}

    /**
     * It was started again ({@code sinkRestarted}, section 6.3): one that keeps its catalogue in
     * memory has none of the arrays and datasets that it had.
     */
    default void restarted() {}
}
