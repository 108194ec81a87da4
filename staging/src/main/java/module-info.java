/** Data-staging protocols. */
module dev.verbena.staging {
    requires transitive dev.verbena.api;
    requires com.github.luben.zstd_jni;
    requires java.compiler; // the compiler of .x files asks it which names Java reserves

    exports dev.verbena.dart;
    exports dev.verbena.flesnet;
    exports dev.verbena.flesnet.archive;
    exports dev.verbena.flesnet.consume;
    exports dev.verbena.flesnet.dfs;
    exports dev.verbena.flesnet.source;
    exports dev.verbena.flesnet.stream;
    exports dev.verbena.nessie;
    exports dev.verbena.nessie.nnti;
    exports dev.verbena.nessie.rpc;
    exports dev.verbena.nessie.service;
    exports dev.verbena.nessie.xdr;
    exports dev.verbena.nessie.xdr.compiler;
    exports dev.verbena.nessie.xfer;
    exports dev.verbena.savime;
    exports dev.verbena.savime.query;
    exports dev.verbena.staging.exchange;
    exports dev.verbena.staging.metadata;
    exports dev.verbena.staging.sink;

    uses dev.verbena.staging.sink.SinkProvider;
}
