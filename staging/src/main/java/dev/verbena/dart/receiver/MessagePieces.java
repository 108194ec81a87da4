package dev.verbena.dart.receiver;

import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.staging.metadata.PieceMetadata;
import dev.verbena.staging.sink.SinkDataset;
import java.util.Arrays;

/** What a sink gets of a message: see {@link DartReceiver.Context#sink}. */
final class MessagePieces {
    private static final int NAME_MAX = 63;
    private static final int VARIABLE_PART = 22;

    private MessagePieces() {}

    /**
     * The message as a dataset. Its name is that of no other message, so that a sink that gets it
     * again knows whether it has it.
     *
     * @throws IllegalArgumentException if it is no piece of an array
     */
    static SinkDataset dataset(InboundMessage message) {
        DartMetadata metadata = message.metadata();
        int size = metadata.elementType().size();
        String variable = variable(message);
        String name =
                "%s_%s_%s_%s"
                        .formatted(
                                cut(variable, VARIABLE_PART),
                                message.job().toString().substring(0, 8),
                                message.clientId(),
                                message.sequence());
        return new SinkDataset(
                name,
                type(metadata.elementType()),
                message.received(),
                size,
                piece(metadata, variable, message.received() / size),
                true);
    }

    private static String type(ElementType of) {
        return switch (of) {
            case INT32 -> "int";
            case INT64 -> "long";
            case FLOAT32 -> "float";
            case FLOAT64 -> "double";
            default -> "char";
        };
    }

    private static String cut(String text, int length) {
        return text.substring(0, Math.min(length, text.length()));
    }

    /** A name that any sink can use; names that begin with {@code verbena_} are the sinks'. */
    private static String variable(InboundMessage message) {
        DartMetadata metadata = message.metadata();
        String text = metadata.variable().isEmpty() ? metadata.name() : metadata.variable();
        String safe = (text.isEmpty() ? "message" : text).replaceAll("[^A-Za-z0-9_]", "_");
        boolean isTaken = Character.isDigit(safe.charAt(0)) || safe.startsWith("verbena_");
        return cut(isTaken ? "_" + safe : safe, NAME_MAX);
    }

    private static PieceMetadata piece(DartMetadata metadata, String variable, long elements) {
        long[] shape = metadata.dimensionCount() == 0 ? new long[] {elements} : metadata.shape();
        String global = metadata.property(DartReceiver.GLOBAL_PROPERTY);
        String start = metadata.property(DartReceiver.START_PROPERTY);
        if (global != null) {
            long[] from = start == null ? new long[shape.length] : numbers(start);
            return piece(metadata, variable, numbers(global), from, shape);
        }
        if (metadata.rankCount() <= 1) {
            return piece(metadata, variable, shape, new long[shape.length], shape);
        }
        long[] origin = new long[shape.length + 1];
        origin[0] = metadata.rank();
        return piece(
                metadata, variable, before(metadata.rankCount(), shape), origin, before(1, shape));
    }

    private static PieceMetadata piece(
            DartMetadata metadata, String variable, long[] global, long[] start, long[] shape) {
        return new PieceMetadata(variable, metadata.step(), metadata.rank(), global, start, shape);
    }

    private static long[] before(long first, long[] rest) {
        long[] all = new long[rest.length + 1];
        all[0] = first;
        System.arraycopy(rest, 0, all, 1, rest.length);
        return all;
    }

    private static long[] numbers(String text) {
        return Arrays.stream(text.split(","))
                .map(String::strip)
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
