/** The verbena command. */
module dev.verbena.cli {
    requires dev.verbena.examples;
    requires dev.verbena.natives;
    requires dev.verbena.nsim;
    requires HdrHistogram;
    requires info.picocli;
    requires jdk.net; // how soon a computer that has gone is noticed
    requires jdk.unsupported; // signals, by reflection

    exports dev.verbena.cli;

    opens dev.verbena.cli to
            info.picocli;
}
