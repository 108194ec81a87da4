package dev.verbena.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A receiver, a master and a slave, each a process of its own, in a job that tests can watch. */
public final class StagingJob implements AutoCloseable {
    private final Path folder;
    private final String transport;
    private final Map<String, String> variables;
    private final List<CommandProcess> processes = new ArrayList<>();
    public final CommandProcess receiver;
    final CommandProcess master;
    public final CommandProcess slave;

    public StagingJob(Path folder) throws Exception {
        this(folder, "shm");
    }

    public StagingJob(Path folder, String scheme) throws Exception {
        this(folder, scheme, Map.of());
    }

    /** With these variables in the environment of all its processes. */
    public StagingJob(Path folder, String scheme, Map<String, String> variables) throws Exception {
        this.folder = folder;
        this.variables = variables;
        this.transport = "--transport=" + scheme;
        try {
            receiver =
                    start("receive", "--listen=127.0.0.1:0", "--directory=" + arrived().toString());
            String line =
                    receiver.awaitOut("listening on")
                            .lines()
                            .filter(text -> text.startsWith("listening on"))
                            .findFirst()
                            .get();
            String address = "127.0.0.1:" + line.substring(line.lastIndexOf(':') + 1).strip();
            master =
                    start(
                            "master",
                            transport,
                            "--config=" + configuration(),
                            "--receiver=" + address,
                            "--servers=2");
            slave = start("slave", transport, "--config=" + configuration());
            master.awaitOut("ready");
            slave.awaitOut("ready");
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private CommandProcess start(String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("dart"));
        all.addAll(List.of(arguments));
        CommandProcess process =
                CommandProcess.start(folder, variables, all.toArray(String[]::new));
        processes.add(process);
        return process;
    }

    public Path arrived() {
        return folder.resolve("arrived");
    }

    String configuration() {
        return folder.resolve("job.conf").toString();
    }

    public CommandProcess send(Path what) throws Exception {
        return start("send", transport, "--config=" + configuration(), what.toString());
    }

    @Override
    public void close() throws Exception {
        for (int i = processes.size() - 1; i >= 0; i--) {
            processes.get(i).handle().destroyForcibly();
        }
        for (CommandProcess process : processes) {
            process.close();
        }
    }
}
