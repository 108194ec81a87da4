package dev.verbena.cli.experiment;

import dev.verbena.dart.Packer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A restart file as section 6.3 of the DART paper describes GTC's: single integers and floats, one-
 * and two-dimensional arrays, 8.5 MB in all, the largest item 7.5 MB. The numbers of items are
 * ours: the paper gives none.
 */
final class RestartItems {
    /** Bytes of a file. */
    static final int LENGTH = 8_500_000;

    private static final int SCALARS = 10;
    private static final int VECTORS = 8;
    private static final int VECTOR_ELEMENTS = 25_000;
    private static final int[] MATRIX = {10, 4998};
    private static final int[] LARGEST = {1875, 1000};

    private final float[] vector = new float[VECTOR_ELEMENTS];
    private final float[][] matrix = new float[MATRIX[0]][MATRIX[1]];
    private final float[][] largest = new float[LARGEST[0]][LARGEST[1]];

    /** Packs the whole file. */
    void pack(Packer packer, int step) {
        items(step).forEach(item -> item.accept(packer));
    }

    /** Hands each item on by itself, in the order of the file. */
    void each(Packer packer, int step, Consumer<Packer> sink) {
        for (Consumer<Packer> item : items(step)) {
            packer.clear();
            item.accept(packer);
            sink.accept(packer);
        }
    }

    private List<Consumer<Packer>> items(int step) {
        List<Consumer<Packer>> items = new ArrayList<>();
        for (int i = 0; i < SCALARS; i++) {
            int number = step + i;
            items.add(packer -> packer.putInt(number));
            items.add(packer -> packer.putFloat(number));
        }
        for (int i = 0; i < VECTORS / 2; i++) {
            items.add(packer -> packer.putArray(vector));
        }
        items.add(packer -> packer.putArray(largest));
        items.add(packer -> packer.putArray(matrix));
        for (int i = VECTORS / 2; i < VECTORS; i++) {
            items.add(packer -> packer.putArray(vector));
        }
        return items;
    }
}
