package dev.verbena.ofi.transport;

import dev.verbena.SampledByDay;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.IoUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The contract's suite over {@code auto} with both parts, where each transport has shared memory of
 * its own, as on another host: peers are reached over libfabric.
 */
@ExtendWith(NeedsLibfabric.class)
@SampledByDay(parts = 3)
class AutoOverOfiContractTest extends TransportContract {
    private final List<Path> folders = new ArrayList<>();

    @Override
    protected String scheme() {
        return "auto";
    }

    @Override
    protected Transport open(TransportContext context) {
        try {
            Path folder = Files.createTempDirectory("verbena-auto");
            synchronized (folders) {
                folders.add(folder);
            }
            return super.open(context.option("shm.directory", folder.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each opens both transports; as many as usual are in the suites of the two. */
    @Override
    protected int manyClients() {
        return 12;
    }

    @AfterEach
    void removeFolders() {
        folders.forEach(folder -> IoUtil.delete(folder.toFile(), true));
    }
}
