package dev.verbena.dart.server;

/** The other end of a connection of a server's transport. Owned by t1. */
final class ServerPeer {
    /** Accepted; has not said yet who it is. */
    static final int UNKNOWN = 0;

    static final int CLIENT = 1;
    static final int SLAVE = 2;
    static final int MASTER = 3;

    /** Of its connection. */
    final long context;

    long connection;
    int kind;
    boolean isConnected;
    ServedClient client;
    int slaveId;
    int refusal;

    /** Registrations that came over it and wait. */
    int waitingCount;

    /** It is owed an answer, {@link #refusal}. */
    boolean isAnswerDue;

    /** Number of the last barrier that this slave entered, and of the last it was told of. */
    long barrierEntered;

    long barrierTold;

    /** This slave was told to stop. */
    boolean isToldToStop;

    /** And to do it without delivering anything. */
    boolean isToldToStopAtOnce;

    ServerPeer(long context, int kind) {
        this.context = context;
        this.kind = kind;
    }
}
