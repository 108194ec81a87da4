/** The verbena command. */
module dev.verbena.cli {
    requires dev.verbena.examples;
    requires dev.verbena.natives;
    requires dev.verbena.nsim;
    requires dev.verbena.ofi;
    requires HdrHistogram;
    requires info.picocli;
    requires io.prometheus.metrics.exporter.httpserver;
    requires io.prometheus.metrics.model;
    requires jdk.httpserver; // the page of verbena watch, and the Prometheus client
    requires jdk.management; // what a thread has allocated
    requires jdk.net; // how soon a computer that has gone is noticed
    requires jdk.unsupported; // signals, by reflection

    exports dev.verbena.cli;

    opens dev.verbena.cli to
            info.picocli;
    opens dev.verbena.cli.dart to
            info.picocli;
    opens dev.verbena.cli.demo to
            info.picocli;
    opens dev.verbena.cli.doctor to
            info.picocli;
    opens dev.verbena.cli.experiment to
            info.picocli;
    opens dev.verbena.cli.flesnet to
            info.picocli;
    opens dev.verbena.cli.nessie to
            info.picocli;
    opens dev.verbena.cli.perf to
            info.picocli;
    opens dev.verbena.cli.perftest to
            info.picocli;
    opens dev.verbena.cli.sim to
            info.picocli;
    opens dev.verbena.cli.stage to
            info.picocli;
    opens dev.verbena.cli.stage.demo to
            info.picocli;
    opens dev.verbena.cli.stage.experiment to
            info.picocli;
    opens dev.verbena.cli.status to
            info.picocli;
    opens dev.verbena.cli.terminal to
            info.picocli;
    opens dev.verbena.cli.transfer to
            info.picocli;
}
