package dev.verbena.staging.sink;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Datasets as a store of Zarr, version 2: {@code pieces/NAME} is each as an array of one chunk;
 * {@code VARIABLE/STEP} is the global array of a step whose pieces are chunks of a regular grid, in
 * which those that are absent are zeros. A dataset of a type that is not known is left out.
 * Immutable.
 */
public final class ZarrView {
    private static final String PIECES = "pieces";

    private final Map<String, String> texts = new TreeMap<>();
    private final Map<String, String> chunks = new HashMap<>();

    private record Named(String name, StagedPiece piece) {}

    /** Of what there is. */
    public ZarrView(List<SinkDataset> datasets) {
        texts.put(".zgroup", ZarrText.GROUP);
        texts.put(PIECES + "/.zgroup", ZarrText.GROUP);
        Map<String, List<Named>> steps = new TreeMap<>();
        for (SinkDataset dataset : datasets) {
            try {
                StagedPiece piece = StagedPiece.of(dataset);
                addPiece(dataset.name(), piece);
                String step = piece.variable() + "/" + piece.step();
                steps.computeIfAbsent(step, any -> new ArrayList<>())
                        .add(new Named(dataset.name(), piece));
            } catch (SinkRejectedException e) {
                continue; // It is no array.
            }
        }
        steps.forEach(this::addStep);
        StringBuilder all = new StringBuilder("{\"zarr_consolidated_format\": 1, \"metadata\": {");
        texts.forEach(
                (key, text) -> {
                    all.append(all.charAt(all.length() - 1) == '{' ? "" : ", ");
                    all.append('"').append(key).append("\": ").append(text.strip());
                });
        texts.put(".zmetadata", all.append("}}\n").toString());
    }

    private void addPiece(String name, StagedPiece piece) {
        String more =
                ", \"variable\": \"%s\", \"step\": %s, \"rank\": %s, \"start\": %s, \"global\": %s"
                        .formatted(
                                piece.variable(),
                                piece.step(),
                                piece.rank(),
                                Arrays.toString(piece.start()),
                                Arrays.toString(piece.global()));
        String array = PIECES + "/" + name;
        addArray(array, piece, piece.shape(), more);
        long[] only = new long[piece.shape().length];
        chunks.put(array + "/" + ZarrText.key(only, piece.vector()), name);
    }

    private void addArray(String array, StagedPiece piece, long[] shape, String more) {
        List<String> names = ZarrText.dimensions(shape.length);
        texts.put(array + "/.zattrs", ZarrText.attributes(names, piece.vector(), more));
        texts.put(
                array + "/.zarray",
                ZarrText.array(shape, piece.shape(), piece.scalar(), piece.vector()));
    }

    private void addStep(String step, List<Named> pieces) {
        pieces.sort(Comparator.comparingInt(each -> each.piece.rank()));
        StagedPiece first = pieces.get(0).piece;
        if (!ZarrText.isChunk(first) || first.variable().equals(PIECES)) {
            return;
        }
        String description = description(first);
        for (Named each : pieces) {
            if (!ZarrText.isChunk(each.piece) || !description(each.piece).equals(description)) {
                return;
            }
        }
        texts.put(first.variable() + "/.zgroup", ZarrText.GROUP);
        addArray(step, first, first.global(), "");
        for (Named each : pieces) {
            long[] at = each.piece.start();
            for (int i = 0; i < at.length; i++) {
                at[i] /= each.piece.shape()[i];
            }
            chunks.put(step + "/" + ZarrText.key(at, each.piece.vector()), each.name);
        }
    }

    private static String description(StagedPiece piece) {
        return ZarrText.array(piece.global(), piece.shape(), piece.scalar(), piece.vector());
    }

    /** The description of this key; null: it is none. */
    public String text(String key) {
        return texts.get(key);
    }

    /** The dataset whose bytes are the chunk of this key; null: it is none. */
    public String dataset(String key) {
        return chunks.get(key);
    }
}
