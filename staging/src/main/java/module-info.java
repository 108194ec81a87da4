/** Data-staging protocols. */
module dev.verbena.staging {
    requires transitive dev.verbena.api;

    exports dev.verbena.dart;
    exports dev.verbena.nessie.xdr;
    exports dev.verbena.nessie.xdr.compiler;
}
