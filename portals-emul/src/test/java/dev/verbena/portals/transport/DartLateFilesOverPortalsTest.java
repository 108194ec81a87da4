package dev.verbena.portals.transport;

import dev.verbena.dart.DartLateFilesContract;
import dev.verbena.dart.SampledByDay;

/** Late files of a killed server over the portals provider. */
@SampledByDay
class DartLateFilesOverPortalsTest extends DartLateFilesContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
