package dev.verbena.cli.experiment;

import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.cli.terminal.TransportOption;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena dart experiment}: the measurements of the DART paper. */
@Command(
        name = "experiment",
        description = {
            "Measure what the DART paper measured, and draw the counterparts of its figures.",
            "",
            "  e1  bandwidth by message size, and streaming beside plain TCP (figure 6)",
            "  e2  where sending begins to wait: compute time from 0.5 to 2 times the knee; time on"
                    + " the server (figures 7, 8, 9)",
            "  e3  beyond the knee: th, tw, tt; numbers of buffers and of servers (figure 10)",
            "  e4  restart files: no output, files, DART unbuffered and buffered (figures 11, 12)",
            "",
            "The knee is N x S / R: the time that the receiver needs for one step's output of all"
                    + " processes. Servers and receiver are threads of this process, the compute"
                    + " processes are threads of another one. Ctrl-C ends it in order."
        },
        sortOptions = false)
public final class DartExperiment extends CliCommand {
    private static final String OUTPUT = "experiment-output";

    /** Which of them. */
    enum Which {
        e1("DART experiment 1: bandwidth by message size"),
        e2("DART experiment 2: where sending begins to wait"),
        e3("DART experiment 3: beyond the knee"),
        e4("DART experiment 4: restart files");

        /** Of the report. */
        final String title;

        Which(String title) {
            this.title = title;
        }
    }

    @Parameters(paramLabel = "e1|e2|e3|e4", description = "Which experiment.")
    Which which;

    @Mixin TransportOption transport;

    @Option(
            names = "--clients",
            paramLabel = "N[,N...]",
            split = ",",
            description =
                    "Logical compute processes, 1 to 256. Default: 2 (e1), 8,32,128 (e2), 32 (e3),"
                            + " 8 (e4).")
    List<Integer> clients;

    @Option(
            names = "--size",
            paramLabel = "KIB",
            description = "Message in KiB, 1 to 1048576. Default: 4096; e1: from 1 MiB to 100 MiB.")
    Integer size;

    @Option(
            names = "--compute",
            paramLabel = "MS",
            description =
                    "Compute time between outputs, ms, 0 to 60000. Default: 1 (e1), multiples of"
                            + " the knee (others).")
    Integer compute;

    @Option(
            names = "--rate",
            paramLabel = "MB/S",
            description =
                    "What the receiver takes, MB/s, 1 to 100000. Default: so that the knee is at"
                            + " half a second, at most 512.")
    Integer rate;

    @Option(
            names = "--steps",
            paramLabel = "N",
            description =
                    "Outputs of each process, 8 to 100000. Default: 100 (e1), 20 (e2, e3), 10"
                            + " (e4).")
    Integer steps;

    @Option(
            names = "--servers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Servers, 1 to 16. Default: 1; e3 tries 1, 2 and 4 besides.")
    int servers;

    @Option(
            names = "--buffers",
            paramLabel = "N",
            defaultValue = "0",
            description = "Buffers of a server, 0 to 4096. Default: three for two processes.")
    int buffers;

    @Option(
            names = "--buffer-size",
            paramLabel = "MIB",
            defaultValue = "4",
            description = "Size of a buffer in MiB, 1 to 256. Default: 4.")
    int bufferMebibytes;

    @Option(
            names = "--busy-cores",
            paramLabel = "N",
            description =
                    "Processors on which computing is a busy wait; where none is free it is a wait"
                            + " of the same length. Default: all but one.")
    Integer busyCores;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Folder for report.html, results.json, points.csv and samples; absent or empty."
                            + " Default: the next free experiment-output/run-N.")
    Path output;

    /** A part of {@code e1}, or of {@code e3}. */
    enum Part {
        streaming,
        carried,
        tcp,
        pulls,
        gets,
        send;

        Which of() {
            return this == send ? Which.e3 : Which.e1;
        }
    }

    @Option(
            names = "--only",
            paramLabel = "streaming|carried|tcp|pulls|gets|send",
            description =
                    "e1: only streaming, only streaming over shm:// to the receiver, only plain"
                            + " TCP, only pulls or only the gets alone, of one size (--size, 4 MiB),"
                            + " once; e3: only a send that need not wait.")
    Part only;

    @Option(names = "--quick", description = "Fewer and shorter measurements: about ten seconds.")
    boolean isQuick;

    @Option(names = "--json", description = "Print the summary as JSON instead of lines.")
    boolean isJson;

    @Override
    public Integer call() throws Exception {
        check();
        String scheme = transport.require(spec);
        Path folder = OutputFolder.prepareOrNext(output, OUTPUT);
        boolean isEndWished;
        try (Termination termination = new Termination(30_000)) {
            try (ExperimentService service =
                    new ExperimentService(scheme, folder.resolve("points"), termination::isAsked)) {
                ResultReport report = new ExperimentRun(this, scheme, service, out()).run();
                report.write(folder, environment(scheme));
                print(out(), report.summary(), folder, Columns.width());
                return 0;
            } catch (InterruptedException e) {
                isEndWished = true;
            } catch (Exception e) {
                // Ctrl-C reaches the other process too: its end is then no failure.
                isEndWished = termination.await(200);
                if (!isEndWished) {
                    throw e;
                }
            }
        }
        throw new Messages.Failure("interrupted; " + folder + " holds what was measured");
    }

    void print(PrintWriter out, Map<String, Object> summary, Path folder, int width) {
        if (isJson) {
            out.println(ResultReport.json(summary, 0));
        } else {
            summary.forEach(
                    (name, value) -> out.print(Columns.fold(name + ": " + shown(value), width)));
            out.print(Columns.fold("report: " + folder.resolve("report.html"), width));
        }
        out.flush();
    }

    private static String shown(Object value) {
        return value instanceof Double number
                ? String.format(java.util.Locale.ROOT, "%.4g", number)
                : String.valueOf(value);
    }

    private void check() {
        for (int n : clients == null ? List.<Integer>of() : clients) {
            inRange("--clients", n, 1, 256);
        }
        if (only != null && which != only.of()) {
            throw wrong("--only=" + only + " is for " + only.of());
        }
        inRange("--size", size, 1, 1 << 20);
        inRange("--compute", compute, 0, 60_000);
        inRange("--rate", rate, 1, 100_000);
        inRange("--steps", steps, 8, 100_000);
        inRange("--servers", servers, 1, 16);
        inRange("--buffers", buffers, 0, 4096);
        inRange("--buffer-size", bufferMebibytes, 1, 256);
        inRange("--busy-cores", busyCores, 0, Runtime.getRuntime().availableProcessors());
    }

    private Map<String, Object> environment(String scheme) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("processor", ThisMachine.processor());
        fields.put("processors", Runtime.getRuntime().availableProcessors());
        fields.put("kernel", System.getProperty("os.version"));
        fields.put("java", System.getProperty("java.vm.version"));
        fields.put("transport", scheme);
        fields.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        fields.put("command", commandLine());
        return fields;
    }
}
