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
    private boolean isAnswerDue;

    /** Number of the last barrier that this slave entered, and of the last it was told of. */
    long barrierEntered;

    long barrierTold;

    /** Barriers of the service before this slave came: it numbers its own from 1. */
    private long barrierBase;

    /** This slave was told to stop. */
    private boolean isToldToStop;

    /** And to do it without delivering anything. */
    private boolean isToldToStopAtOnce;

    ServerPeer(long context, int kind) {
        this.context = context;
        this.kind = kind;
    }

    /** It is asked for, or asks for, this connection. */
    void connecting(long over) {
        connection = over;
    }

    void connected(long over) {
        connection = over;
        isConnected = true;
    }

    void disconnected() {
        isConnected = false;
    }

    /** It has registered as a client. */
    void becameClient(ServedClient itself) {
        kind = CLIENT;
        client = itself;
    }

    /** It has registered as a slave. */
    void becameSlave(int id) {
        kind = SLAVE;
        slaveId = id;
    }

    /** Whether it is nobody yet, or this client: with a connection goes whom it registered. */
    boolean mayBecome(int clientId) {
        return kind == UNKNOWN || kind == CLIENT && client.id == clientId;
    }

    /** A registration came over it that waits. */
    void registrationWaits() {
        waitingCount++;
    }

    /** A registration that waited was handed on, or is void. */
    void registrationHandedOn() {
        waitingCount--;
    }

    /** Owes it this answer; whether it was owed none. */
    boolean oweAnswer(int result) {
        boolean isFirst = !isAnswerDue;
        refusal = result;
        isAnswerDue = true;
        return isFirst;
    }

    void answered() {
        isAnswerDue = false;
    }

    /**
     * Entered one.
     *
     * @param number as the slave counts
     * @param released barriers of the service so far, none of them since this slave came
     */
    void enteredBarrier(long number, long released) {
        barrierBase = barrierEntered == 0 ? released : barrierBase;
        barrierEntered = Math.max(barrierEntered, barrierBase + number);
    }

    /** A barrier's number as this slave counts. */
    long ownBarrier(long number) {
        return number - barrierBase;
    }

    void toldOfBarrier(long number) {
        barrierTold = number;
    }

    boolean isToldToStop(boolean isAtOnce) {
        return isToldToStop && (!isAtOnce || isToldToStopAtOnce);
    }

    void toldToStop(boolean isAtOnce) {
        isToldToStop = true;
        isToldToStopAtOnce = isAtOnce;
    }
}
