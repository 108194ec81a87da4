package dev.verbena.cli;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import dev.verbena.FieldWrites;

/** Who writes what in this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/cli/target/classes/");
        }
    }

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        FieldWrites.requireOnly(
                classes,
                """
                DeviceOptions 1
                """);
    }
}
