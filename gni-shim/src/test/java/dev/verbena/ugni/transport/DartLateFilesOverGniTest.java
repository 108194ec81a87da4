package dev.verbena.ugni.transport;

import dev.verbena.dart.DartLateFilesContract;
import dev.verbena.dart.SampledByDay;

/** Late files of a killed server over the portals provider. */
@SampledByDay
class DartLateFilesOverGniTest extends DartLateFilesContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
