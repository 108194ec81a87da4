package dev.verbena.jmh;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import dev.verbena.FieldWrites;

/** Who writes what in this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    /** Main classes of this module only, without what JMH generates. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/jmh/target/classes/")
                    && !location.contains("/jmh_generated/");
        }
    }

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        FieldWrites.requireOnly(classes, "");
    }
}
