package dev.verbena.staging.sink;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Arrays and their regions as files that name datasets. Thread-safe. */
final class FileTars {
    private static final String END = ".subtar";

    private final Path folder;
    private final TarFolder tars;

    FileTars(Path folder) {
        this.folder = folder;
        tars = new TarFolder(folder);
    }

    synchronized void create(Tar tar) throws IOException {
        for (Tar.Dimension each : tar.dimensions()) {
            if (each.isExplicit()) {
                length(each.dataset());
            }
        }
        tars.create(tar);
    }

    synchronized void load(Subtar subtar) throws IOException {
        Tar tar = tars.tar(subtar.tar());
        Subtar.Box box = TarFolder.free(tar, subtar, folder, tar.name() + ".", END);
        checkDatasets(tar, subtar, box);
        Path file = folder.resolve(tar.name() + "." + box.text() + END);
        FileSink.write(file, subtar.text() + "\n");
        FileSink.force(folder);
    }

    private void checkDatasets(Tar tar, Subtar subtar, Subtar.Box box) throws IOException {
        for (Subtar.Range each : subtar.ranges()) {
            if (each.dataset() != null) {
                length(each.dataset());
            }
        }
        for (Subtar.Column each : subtar.columns()) {
            Tar.Attribute attribute = tar.attribute(each.attribute());
            long element = (long) attribute.scalar().size() * attribute.vector();
            long length = length(each.dataset());
            if (length / element < Subtar.cells(subtar, box)) {
                throw new SinkRejectedException(
                        "dataset %s has %s bytes, too few for the region"
                                .formatted(each.dataset(), length));
            }
        }
    }

    private long length(String dataset) throws IOException {
        Path raw = folder.resolve(dataset + ".raw");
        if (!Files.exists(raw)) {
            throw new SinkRejectedException("there is no dataset '" + dataset + "'");
        }
        return Files.size(raw);
    }
}
