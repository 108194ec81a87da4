package dev.verbena.ofi;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/ofi/target/classes/");
        }
    }

    @ArchTest
    static final ArchRule SIGNATURES = ArchitectureRules.publicSignaturesAreFreeOfJavaCpp();

    @ArchTest
    static final ArchRule NOTHING_POINTS_UP =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.dart..", "dev.verbena.examples..", "dev.verbena.cli..");

    @ArchTest static final ArchRule NO_CIRCLE = ArchitectureRules.packagesHaveNoCircle();

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        FieldWrites.requireOnly(classes, "");
    }
}
