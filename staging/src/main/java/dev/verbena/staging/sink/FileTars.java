package dev.verbena.staging.sink;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Arrays and their regions as files that name datasets. Thread-safe. */
final class FileTars {
    private static final String END = ".subtar";

    private final Path folder;

    FileTars(Path folder) {
        this.folder = folder;
    }

    private Path tar(String name) {
        return folder.resolve(name + ".tar");
    }

    synchronized String create(Tar tar) throws IOException {
        if (Files.exists(tar(tar.name()))) {
            throw new SinkRejectedException("there is already a TAR '" + tar.name() + "'");
        }
        for (Tar.Dimension each : tar.dimensions()) {
            if (each.isExplicit()) {
                length(each.dataset());
            }
        }
        FileSink.write(tar(tar.name()), tar.text() + "\n");
        FileSink.force(folder);
        return TarText.DONE;
    }

    synchronized String load(Subtar subtar) throws IOException {
        if (!Files.exists(tar(subtar.tar()))) {
            throw new SinkRejectedException("there is no TAR '" + subtar.tar() + "'");
        }
        Tar tar = TarText.createTar(Files.readString(tar(subtar.tar()), UTF_8));
        Subtar.Box box = subtar.box(tar);
        for (Subtar.Box each : loaded(tar.name())) {
            if (each.meets(box)) {
                throw new SinkRejectedException("the subtar overlaps " + each.text());
            }
        }
        checkDatasets(tar, subtar, box);
        Path file = folder.resolve(tar.name() + "." + box.text() + END);
        FileSink.write(file, subtar.text() + "\n");
        FileSink.force(folder);
        return TarText.DONE;
    }

    private List<Subtar.Box> loaded(String tar) throws IOException {
        String begin = tar + ".";
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(each -> each.getFileName().toString())
                    .filter(each -> each.startsWith(begin) && each.endsWith(END))
                    .map(each -> each.substring(begin.length(), each.length() - END.length()))
                    .map(Subtar.Box::of)
                    .toList();
        }
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
