/** Small complete programs, and the particle-in-cell mini-application. */
module dev.verbena.examples {
    requires transitive dev.verbena.staging;
    requires dev.verbena.nsim;
    requires dev.verbena.portals; // found by name, portals://
    requires dev.verbena.ugni;

    exports dev.verbena.examples;
    exports dev.verbena.examples.cluster;
    exports dev.verbena.examples.heat;
    exports dev.verbena.examples.intransit;
    exports dev.verbena.examples.pic;
}
