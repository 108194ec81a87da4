package dev.verbena.staging.forward;

import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/** Hands over datasets that are whole files of a folder, in one transaction if the sink has any. */
public final class FileTransfers extends SinkTask {
    private final String folder;
    private final List<String> files;
    private final List<SinkDataset> datasets;
    private final List<FileChannel> data = new ArrayList<>();

    /**
     * @param files names in the folder, one for each dataset
     */
    public FileTransfers(
            Object owner, String folder, List<String> files, List<SinkDataset> datasets) {
        super(owner);
        this.folder = folder;
        this.files = List.copyOf(files);
        this.datasets = List.copyOf(datasets);
    }

    @Override
    protected void prepare() throws IOException {
        data.clear();
        try {
            for (int i = 0; i < files.size(); i++) {
                data.add(open(Path.of(folder, files.get(i)), datasets.get(i).length()));
            }
        } catch (IOException e) {
            CloseHelper.quietCloseAll(data);
            throw e;
        }
    }

    private static FileChannel open(Path path, long length) throws IOException {
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        if (file.size() < length) {
            String lengths = file.size() + " bytes instead of " + length;
            file.close();
            throw new IOException(path + " has " + lengths);
        }
        return file;
    }

    @Override
    protected String perform(SinkSession session) throws IOException {
        try {
            session.transferAll(datasets, data);
            return "";
        } finally {
            CloseHelper.quietCloseAll(data);
        }
    }
}
