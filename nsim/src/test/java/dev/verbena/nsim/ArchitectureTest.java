package dev.verbena.nsim;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import dev.verbena.ArchitectureRules;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureTest.ThisModule.class)
class ArchitectureTest {
    /** Main classes of this module only. */
    static final class ThisModule implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return location.contains("/nsim/target/classes/");
        }
    }

    @ArchTest
    static final ArchRule DEPENDENCIES =
            ArchRuleDefinition.noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideOutsideOfPackages(
                            "java..",
                            "org.agrona..",
                            "org.HdrHistogram..",
                            "dev.verbena.nsim..",
                            "dev.verbena.agent.internal..")
                    .as("the simulator depends on nothing that has a clock, a file or a socket");

    @ArchTest
    static final ArchRule WORLD = ArchitectureRules.enginesTakeTheWorldFromTheEnvironment();

    @ArchTest
    static final ArchRule LAYERS =
            ArchRuleDefinition.noClasses()
                    .that()
                    .resideInAnyPackage("..nsim.engine..", "..nsim.topology..", "..nsim.network..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.nsim", "..nsim.program..", "..nsim.scenario..");

    @ArchTest static final ArchRule SWITCHES = ArchitectureRules.ordinaryBuildsHaveNoSwitch();
}
