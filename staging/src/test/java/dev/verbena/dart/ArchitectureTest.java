package dev.verbena.dart;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import org.junit.jupiter.api.Tag;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/staging/target/classes/");
        }
    }

    @ArchTest
    static final ArchRule DEPENDENCIES =
            ArchitectureRules.protocolsDependOnTheContractOnly("dev.verbena.dart..");

    @ArchTest
    @Tag("nsim-42")
    static void shouldTakeTheWorldFromTheEnvironment(JavaClasses classes) {
        ArchitectureRules.enginesTakeTheWorldFromTheEnvironment().check(classes);
    }

    @ArchTest static final ArchRule SWITCHES = ArchitectureRules.ordinaryBuildsHaveNoSwitch();
}
