package dev.verbena.dart.wire;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;

/**
 * Whether the fields of a control record that may come from anywhere make sense. Allocates nothing
 * unless they do not.
 */
public final class ControlCheck {
    private ControlCheck() {}

    /**
     * Checks a record by its type.
     *
     * @param available bytes that there are
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    public static void check(ControlFlyweight record, int available) {
        switch (record.type()) {
            case ControlFlyweight.REGISTER, ControlFlyweight.FORWARD -> checkRegister(record);
            case ControlFlyweight.WELCOME -> {
                range("credits", record.welcomeCredits(), 0, ControlFlyweight.CREDITS_MAX);
                range("heartbeat", record.heartbeatMs(), 0, ControlFlyweight.HEARTBEAT_MS_MAX);
            }
            case ControlFlyweight.HEADER -> checkHeader(record, available);
            case ControlFlyweight.DONE -> {
                range(
                        "state",
                        record.state(),
                        ControlFlyweight.STATE_TRANSFERRED,
                        ControlFlyweight.STATE_LOST);
                range("credits", record.credits(), 0, ControlFlyweight.CREDITS_MAX);
                range("sequence", record.sequence(), 0, Long.MAX_VALUE);
            }
            case ControlFlyweight.CREDIT -> {
                range("credits", record.credits(), 0, ControlFlyweight.CREDITS_MAX);
                range("sequence", record.sequence(), 0, Long.MAX_VALUE);
            }
            case ControlFlyweight.INBOX -> checkInbox(record);
            case ControlFlyweight.GOODBYE ->
                    range("sequence", record.sequence(), 0, Long.MAX_VALUE);
            case ControlFlyweight.HEARTBEAT -> {
                range("client id", record.clientId(), 0, Integer.MAX_VALUE);
                checkPayload(record, available, ControlFlyweight.TEXT_LENGTH_MAX);
            }
            case ControlFlyweight.RESUME -> {
                range("sequence", record.sequence(), 1, Long.MAX_VALUE - 1);
                range("epoch", record.epochMs(), 0, Long.MAX_VALUE);
            }
            case ControlFlyweight.SUSPEND -> range("suspended", record.result(), 0, 1);
            case ControlFlyweight.COMMAND, ControlFlyweight.REPLY ->
                    checkCommand(record, available);
            case ControlFlyweight.STOP -> {}
            case ControlFlyweight.BARRIER -> range("barrier", record.sequence(), 1, Long.MAX_VALUE);
            default -> throw malformed("type " + record.type());
        }
    }

    private static void checkRegister(ControlFlyweight record) {
        RegisterFlyweight register = record.registration();
        range(
                "role",
                register.role(),
                ControlFlyweight.ROLE_CLIENT,
                record.type() == ControlFlyweight.FORWARD
                        ? ControlFlyweight.ROLE_DELEGATED
                        : ControlFlyweight.ROLE_MOVING_CLIENT);
        range("rank", register.rank(), 0, Integer.MAX_VALUE);
        range("application id", register.applicationId(), 0, RegisterFlyweight.APPLICATION_MAX);
        range("credits", register.creditsWanted(), 0, ControlFlyweight.CREDITS_MAX);
        range("client id", register.assignedId(), 0, Integer.MAX_VALUE);
        range("generation", register.generation(), 0, ControlFlyweight.GENERATION_MAX);
        int length = register.uriLength();
        range("URI length", length, 1, ControlFlyweight.URI_LENGTH_MAX);
        for (int i = 0; i < length; i++) {
            int c = register.uriByte(i);
            if (c <= ' ' || c > '~') {
                throw malformed("URI byte " + i + " is not printable");
            }
        }
    }

    private static void checkCommand(ControlFlyweight record, int available) {
        range("client id", record.clientId(), 0, Integer.MAX_VALUE);
        range("number", record.sequence(), 1, Long.MAX_VALUE);
        checkPayload(record, available, ControlFlyweight.BLOCK_LENGTH_MAX);
    }

    private static void checkPayload(ControlFlyweight record, int available, int lengthMax) {
        range("payload length", record.metadataLength(), 0, lengthMax);
        checkFollows("payload length", record, available);
    }

    private static void checkFollows(String what, ControlFlyweight record, int available) {
        int following = available - ControlFlyweight.LENGTH;
        if (record.metadataLength() != following) {
            throw malformed(
                    "%s %s where %s bytes follow"
                            .formatted(what, record.metadataLength(), following));
        }
    }

    private static void checkHeader(ControlFlyweight record, int available) {
        range("client id", record.clientId(), 0, Integer.MAX_VALUE);
        range("sequence", record.sequence(), 1, Long.MAX_VALUE - 1);
        range("payload length", record.length(), 0, FrameFlyweight.NUMBER_MAX);
        range(
                "metadata length",
                record.metadataLength(),
                ControlFlyweight.METADATA_LENGTH_MIN,
                available);
        range("skipped sequences", record.skipped(), 0, Integer.MAX_VALUE);
        int known =
                ControlFlyweight.FLAG_FILE_BEGIN
                        | ControlFlyweight.FLAG_FILE_END
                        | ControlFlyweight.FLAG_CHECKSUM;
        if ((record.flags() & ~known) != 0) {
            throw malformed("flags 0x" + Integer.toHexString(record.flags()));
        }
        checkFollows("metadata length", record, available);
    }

    private static void checkInbox(ControlFlyweight record) {
        boolean isPossible =
                record.slotCount() >= 1
                        && record.slotCount() <= PieceFlyweight.SLOTS_MAX
                        && record.slotLength() >= PieceFlyweight.HEADER_LENGTH
                        && record.slotLength() <= PieceFlyweight.LENGTH_MAX
                        && record.taken() >= -1
                        && record.taken() < Long.MAX_VALUE / 2;
        if (!isPossible) {
            throw malformed(
                    "inbox of %s slots of %s bytes, taken up to %s"
                            .formatted(record.slotCount(), record.slotLength(), record.taken()));
        }
    }

    public static void range(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw malformed(what + " " + value + " is outside " + min + " to " + max);
        }
    }

    public static DartException malformed(String what) {
        return Code.MALFORMED.because("control record: " + what);
    }
}
