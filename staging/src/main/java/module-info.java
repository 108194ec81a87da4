/** Data-staging protocols. */
module dev.verbena.staging {
    requires transitive dev.verbena.api;

    exports dev.verbena.dart;
}
