/** The interconnect simulator. */
@SuppressWarnings("module") // the command depends on this module and is not there yet
module dev.verbena.nsim {
    requires transitive dev.verbena.api;
    requires transitive dev.verbena.staging;
    requires transitive HdrHistogram;
    requires transitive org.agrona;

    exports dev.verbena.nsim;
    exports dev.verbena.nsim.dart;
    exports dev.verbena.nsim.engine;
    exports dev.verbena.nsim.flesnet;
    exports dev.verbena.nsim.internal to
            dev.verbena.cli;
    exports dev.verbena.nsim.nessie;
    exports dev.verbena.nsim.network;
    exports dev.verbena.nsim.program;
    exports dev.verbena.nsim.scenario;
    exports dev.verbena.nsim.topology;
    exports dev.verbena.nsim.world;
}
