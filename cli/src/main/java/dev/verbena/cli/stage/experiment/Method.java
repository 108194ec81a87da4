package dev.verbena.cli.stage.experiment;

/** A way for datasets from the client to the staging machine. */
enum Method {
    STAGED_MEMORY("staging into memory", false, false),
    STAGED_DISK("staging onto disk", true, false),
    STAGED_TCP("staging into memory, over TCP", false, false),
    TUNNELLED("the same through two ssh -L", false, true),
    SCP_MEMORY("scp into memory", false, true),
    SCP_DISK("scp onto disk", true, true);

    final String text;
    final boolean isOnDisk;
    final boolean needsSsh;

    Method(String text, boolean isOnDisk, boolean needsSsh) {
        this.text = text;
        this.isOnDisk = isOnDisk;
        this.needsSsh = needsSsh;
    }

    boolean isScp() {
        return this == SCP_MEMORY || this == SCP_DISK;
    }
}
