package dev.verbena.staging.proof;

import dev.verbena.agent.CountersFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The proof's service and clients as processes that get {@code kill -9}. */
@Timeout(180)
class ProofKillIT {
    private static final int COUNT = 200;

    @TempDir Path directory;
    private final String job = "proof-kill" + ProcessHandle.current().pid();

    private ProofProcess service() throws IOException {
        return ProofProcess.start("service", job, directory.resolve("service").toString());
    }

    private ProofProcess client(int id) throws IOException {
        return ProofProcess.start(
                "client",
                job,
                directory.resolve("service").toString(),
                Integer.toString(id),
                Integer.toString(COUNT));
    }

    private void requireSaved(int client) throws IOException {
        ProofTest.requireSaved(directory.resolve("service.saved"), client, COUNT);
    }

    /** What killed processes have left in shared memory. */
    @AfterEach
    void sweep() throws IOException {
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            try (Stream<Path> files = Files.walk(left)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    @Test
    void shouldLoseNothingWhenTheServiceIsKilled() throws Exception {
        try (ProofProcess one = client(1);
                ProofProcess two = client(2)) {
            for (int round = 1; round <= 2; round++) {
                try (ProofProcess killed = service()) {
                    killed.await("saved " + 10 * round);
                }
            }
            try (ProofProcess last = service()) {
                one.await("done");
                two.await("done");
            }
        }
        requireSaved(1);
        requireSaved(2);
    }

    @Test
    void shouldServeOthersWhenAClientIsKilled() throws Exception {
        try (ProofProcess service = service();
                ProofProcess steady = client(1)) {
            for (int round = 0; round < 2; round++) {
                try (ProofProcess killed = client(2)) {
                    killed.await("confirmed 1");
                }
            }
            try (ProofProcess again = client(2)) {
                again.await("done");
                steady.await("done");
            }
        }
        requireSaved(1);
        requireSaved(2);
    }
}
