package dev.verbena.savime.client;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.staging.metadata.PieceMetadata;
import java.util.function.Consumer;

/** A dataset to be sent. */
public final class Upload extends Task {
    private final Dataset dataset;
    private final OffHeapMemory memory;
    private final long offset;
    private final long length;
    private long id;
    private String givenName;
    private boolean isInMemory;
    private String server = "";
    private int attempts;

    /**
     * What is said of it when it is opened.
     *
     * @param onDuplicate 0 reject, 1 replace, 2 suffix
     * @param placement 0 memory then disk, 1 memory only, 2 disk only
     * @param piece null: none
     */
    public record Dataset(
            String name,
            String type,
            int elementSize,
            int onDuplicate,
            int placement,
            PieceMetadata piece) {}

    /** A range of memory, which the caller has acquired. */
    public Upload(
            Dataset dataset, OffHeapMemory memory, long offset, long length, Consumer<Task> ended) {
        super(ended);
        this.dataset = dataset;
        this.memory = memory;
        this.offset = offset;
        this.length = length;
        this.givenName = dataset.name();
    }

    @Override
    public String what() {
        return dataset.name();
    }

    public Dataset dataset() {
        return dataset;
    }

    /** Whether it takes the place of one that has its name. */
    boolean isReplacing() {
        return dataset.onDuplicate() == 1;
    }

    /** The text of a long command. */
    boolean isText() {
        return dataset.type().equals("command");
    }

    public OffHeapMemory memory() {
        return memory;
    }

    public long offset() {
        return offset;
    }

    public long length() {
        return length;
    }

    void opened(long datasetId, String name, boolean inMemory) {
        id = datasetId;
        givenName = name;
        isInMemory = inMemory;
    }

    /** The server's number of it. */
    public long id() {
        return id;
    }

    /** Its name at the server. */
    public String givenName() {
        return givenName;
    }

    /** Where the server has put it. */
    public boolean isInMemory() {
        return isInMemory;
    }

    void answeredBy(String whom) {
        server = whom;
    }

    /** The server that has taken or refused it, or was lost with it; empty: none yet. */
    String server() {
        return server;
    }

    int tried() {
        return ++attempts;
    }
}
