package dev.verbena.sinks.hdf5;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.FieldWrites;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/sink-hdf5/target/classes/");
        }
    }

    /** Of the staging it uses the interface of sinks only. */
    @ArchTest
    static final ArchRule SINK =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.savime..",
                            "dev.verbena.dart..",
                            "dev.verbena.transport..");

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        FieldWrites.requireOnly(classes, "");
    }
}
