package dev.verbena.nsim.program;

/** Reads one rank's script, which has no messages but those of collectives. One thread. */
final class ScriptPlayer {
    private final Script script;
    private final Performer performer;
    private final byte[] code;
    private final long[] loopLeft;
    private final int[] loopStart;
    private int cursor;
    private int depth;
    private int started;
    private int received;

    ScriptPlayer(Script script, int rank, Performer performer) {
        this.script = script;
        this.performer = performer;
        code = script.chunkOf(rank);
        cursor = script.startOf(rank);
        loopLeft = new long[script.depthMax()];
        loopStart = new int[script.depthMax()];
    }

    void play() {
        for (int operation = code[cursor++];
                operation != Operation.END;
                operation = code[cursor++]) {
            perform(operation);
        }
    }

    private void perform(int operation) {
        switch (operation) {
            case Operation.COMPUTE -> performer.compute(number());
            case Operation.PUT -> {
                performer.put((int) number(), number(), (int) number());
                started++;
            }
            case Operation.GET -> {
                performer.get((int) number(), number());
                number();
                started++;
            }
            case Operation.POLL -> performer.poll((int) number());
            case Operation.POLL_FROM -> performer.poll((int) number(), (int) number());
            case Operation.COMPLETE -> performer.complete(started - (int) number());
            case Operation.COMPLETE_ALL -> performer.completeAll();
            case Operation.LOOP -> {
                loopLeft[depth] = number();
                loopStart[depth++] = cursor;
            }
            case Operation.LOOP_END -> {
                if (--loopLeft[depth - 1] > 0) {
                    cursor = loopStart[depth - 1];
                } else {
                    depth--;
                }
            }
            case Operation.SEND -> send();
            case Operation.RECEIVE -> receive();
            case Operation.AWAIT -> await();
            default -> throw new IllegalStateException("operation " + operation);
        }
    }

    private void send() {
        int to = (int) number();
        long bytes = number();
        number();
        number();
        number();
        performer.put(to, bytes, Performer.COLLECTIVE_TAG);
    }

    /** A collective's receive; the wait for it is what comes next. */
    private void receive() {
        received = (int) number() + Rank.ANY;
        number();
        number();
        number();
        number();
        number();
    }

    private void await() {
        number();
        performer.poll(received, Performer.COLLECTIVE_TAG);
    }

    private long number() {
        long value = 0;
        int shift = 0;
        byte part;
        do {
            part = code[cursor++];
            value |= (long) (part & 0x7f) << shift;
            shift += 7;
        } while (part < 0);
        return value;
    }
}
