/** The same program as a module; ci/consumer-test compiles it so too. */
module example.consumer {
    requires dev.verbena.api;
}
