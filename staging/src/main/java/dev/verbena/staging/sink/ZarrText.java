package dev.verbena.staging.sink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/** Descriptions of Zarr, version 2: arrays without compression, row-major. */
public final class ZarrText {
    /** Of a group. */
    public static final String GROUP = "{\"zarr_format\": 2}\n";

    private ZarrText() {}

    /** {@code .zarray} of an array; a vector's scalars are its last dimension. */
    public static String array(long[] shape, long[] chunks, StagedPiece.Scalar scalar, int vector) {
        return ("{\"zarr_format\": 2, \"shape\": %s, \"chunks\": %s, \"dtype\": \"%s\","
                        + " \"compressor\": null, \"fill_value\": 0, \"order\": \"C\","
                        + " \"filters\": null}\n")
                .formatted(
                        Arrays.toString(Boxes.extended(shape, vector, vector)),
                        Arrays.toString(Boxes.extended(chunks, vector, vector)),
                        type(scalar));
    }

    private static String type(StagedPiece.Scalar scalar) {
        return switch (scalar) {
            case CHAR -> "|i1";
            case INT -> "<i4";
            case LONG -> "<i8";
            case FLOAT -> "<f4";
            case DOUBLE -> "<f8";
        };
    }

    /** {@code .zattrs}: names of the dimensions, as xarray reads them, and more, as JSON. */
    public static String attributes(List<String> dimensions, int vector, String more) {
        List<String> names = new ArrayList<>(dimensions);
        if (vector > 1) {
            names.add("component");
        }
        return "{\"_ARRAY_DIMENSIONS\": [%s]%s}\n"
                .formatted(
                        names.stream()
                                .map(each -> '"' + each + '"')
                                .collect(Collectors.joining(", ")),
                        more);
    }

    /** Names of the dimensions of an array that has none: {@code i0}, {@code i1}, ... */
    public static List<String> dimensions(int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("i" + i);
        }
        return names;
    }

    /** Key of a chunk: its index in each dimension. */
    public static String key(long[] chunk, int vector) {
        List<String> parts = new ArrayList<>();
        for (long each : chunk) {
            parts.add(Long.toString(each));
        }
        parts.addAll(Collections.nCopies(vector > 1 ? 1 : 0, "0"));
        return parts.isEmpty() ? "0" : String.join(".", parts);
    }

    /** Whether pieces of this one's shape are chunks of a regular grid that fills the array. */
    public static boolean isChunk(StagedPiece piece) {
        boolean is = true;
        for (int i = 0; i < piece.shape().length; i++) {
            is &= piece.global()[i] % piece.shape()[i] == 0;
            is &= piece.start()[i] % piece.shape()[i] == 0;
        }
        return is;
    }
}
