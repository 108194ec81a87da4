package dev.verbena.staging.sink;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Definitions of arrays in a folder, {@code NAME.tar} with the command, and which of their regions
 * are loaded: their names hold their bounds. Not thread-safe.
 */
public final class TarFolder {
    private static final String BOX = "[0-9]{1,18}-[0-9]{1,18}(_[0-9]{1,18}-[0-9]{1,18})*";

    private final Path folder;

    /** Of a folder that exists. */
    public TarFolder(Path folder) {
        this.folder = folder;
    }

    private Path file(String name) {
        return folder.resolve(name + ".tar");
    }

    /**
     * Adds a definition; it is durable on return.
     *
     * @throws SinkRejectedException if there is one of its name
     */
    public void create(Tar tar) throws IOException {
        if (Files.exists(file(tar.name()))) {
            throw new SinkRejectedException("there is already a TAR '" + tar.name() + "'");
        }
        FileSink.write(file(tar.name()), tar.text() + "\n");
        FileSink.force(folder);
    }

    /**
     * The array of this name.
     *
     * @throws SinkRejectedException if there is none
     */
    public Tar tar(String name) throws IOException {
        if (!Files.exists(file(name))) {
            throw new SinkRejectedException("there is no TAR '" + name + "'");
        }
        return TarText.createTar(Files.readString(file(name), UTF_8));
    }

    /**
     * The region of a subtar.
     *
     * @param regions where regions are, if it exists: files or folders whose names begin with
     *     {@code begin}, end with {@code end} and have the bounds between
     * @throws SinkRejectedException if it is wrong, or overlaps one that is there
     */
    public static Subtar.Box free(Tar tar, Subtar subtar, Path regions, String begin, String end)
            throws IOException {
        Subtar.Box box = subtar.box(tar);
        for (Subtar.Box each : loaded(regions, begin, end)) {
            if (each.meets(box)) {
                throw new SinkRejectedException("the subtar overlaps " + each.text());
            }
        }
        return box;
    }

    private static List<Subtar.Box> loaded(Path regions, String begin, String end)
            throws IOException {
        if (!Files.isDirectory(regions)) {
            return List.of();
        }
        int cut = begin.length() + end.length();
        try (Stream<Path> files = Files.list(regions)) {
            return files.map(each -> each.getFileName().toString())
                    .filter(each -> each.startsWith(begin) && each.endsWith(end))
                    .filter(each -> each.length() > cut)
                    .map(each -> each.substring(begin.length(), each.length() - end.length()))
                    .filter(each -> each.matches(BOX))
                    .map(Subtar.Box::of)
                    .toList();
        }
    }

    /**
     * The shape of a region, in the order of its ranges, for sinks that keep regular grids.
     *
     * @throws SinkRejectedException if a dimension is explicit, or a range is not ordered
     */
    public static long[] grid(Tar tar, Subtar subtar, Subtar.Box box) throws IOException {
        long[] shape = new long[subtar.ranges().size()];
        for (int i = 0; i < shape.length; i++) {
            Subtar.Range range = subtar.ranges().get(i);
            Tar.Dimension dimension = tar.dimension(range.dimension());
            if (dimension.isExplicit() || range.kind() != Subtar.Kind.ORDERED) {
                throw new SinkRejectedException(
                        "this sink takes ordered ranges of implicit dimensions only, not "
                                + range.dimension());
            }
            int at = tar.dimensions().indexOf(dimension);
            shape[i] = box.high()[at] - box.low()[at] + 1;
        }
        return shape;
    }
}
