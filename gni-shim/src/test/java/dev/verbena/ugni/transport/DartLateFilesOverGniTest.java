package dev.verbena.ugni.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartLateFilesContract;

/** Late files of a killed server over the portals provider. */
@SampledByDay
class DartLateFilesOverGniTest extends DartLateFilesContract {
    @Override
    protected String scheme() {
        return "gni";
    }
}
