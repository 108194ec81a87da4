/** Staged datasets as HDF5 files with the names of openPMD. */
@SuppressWarnings("module") // the format's name ends with a digit
module dev.verbena.sinks.hdf5 {
    requires transitive dev.verbena.staging;

    exports dev.verbena.sinks.hdf5;

    provides dev.verbena.staging.sink.SinkProvider with
            dev.verbena.sinks.hdf5.Hdf5Provider;
}
