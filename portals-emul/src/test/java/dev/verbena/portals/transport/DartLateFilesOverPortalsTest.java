package dev.verbena.portals.transport;

import dev.verbena.SampledByDay;
import dev.verbena.dart.DartLateFilesContract;

/** Late files of a killed server over the portals provider. */
@SampledByDay
class DartLateFilesOverPortalsTest extends DartLateFilesContract {
    @Override
    protected String scheme() {
        return "portals";
    }
}
