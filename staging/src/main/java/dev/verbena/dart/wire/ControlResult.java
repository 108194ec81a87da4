package dev.verbena.dart.wire;

import dev.verbena.dart.DartException;

/** What the results in control records mean. */
public final class ControlResult {
    private ControlResult() {}

    /** In words. */
    public static String name(int result) {
        return switch (result) {
            case ControlFlyweight.RESULT_OK -> "ok";
            case ControlFlyweight.RESULT_WRONG_JOB -> "wrong service";
            case ControlFlyweight.RESULT_RECEIVER_UNREACHABLE -> "receiver unreachable";
            case ControlFlyweight.RESULT_FULL -> "server full";
            case ControlFlyweight.RESULT_TRANSFER_FAILED -> "transfer failed";
            case ControlFlyweight.RESULT_STOPPING -> "server is stopping";
            case ControlFlyweight.RESULT_MALFORMED -> "malformed header";
            case ControlFlyweight.RESULT_COMMAND_FAILED -> "command failed";
            case ControlFlyweight.RESULT_TOO_LONG ->
                    "longer than the receiver takes (its messageLengthMax)";
            case ControlFlyweight.RESULT_BEGINNING_LOST -> "its beginning was lost by a receiver";
            default -> "result " + result;
        };
    }

    /** What a process is told. */
    public static DartException.Code code(int result) {
        return switch (result) {
            case ControlFlyweight.RESULT_WRONG_JOB -> DartException.Code.NOT_BOOTSTRAPPED;
            case ControlFlyweight.RESULT_RECEIVER_UNREACHABLE ->
                    DartException.Code.RECEIVER_UNREACHABLE;
            case ControlFlyweight.RESULT_FULL -> DartException.Code.SERVER_FULL;
            case ControlFlyweight.RESULT_STOPPING -> DartException.Code.SERVER_STOPPING;
            case ControlFlyweight.RESULT_MALFORMED -> DartException.Code.MALFORMED;
            case ControlFlyweight.RESULT_COMMAND_FAILED -> DartException.Code.COMMAND_FAILED;
            case ControlFlyweight.RESULT_TOO_LONG -> DartException.Code.TOO_LONG;
            default -> DartException.Code.TRANSFER_FAILED;
        };
    }
}
