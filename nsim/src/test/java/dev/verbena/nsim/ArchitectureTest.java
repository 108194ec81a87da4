package dev.verbena.nsim;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;
import java.util.Set;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    private static final Set<String> KNOW_THEIR_THREAD =
            Set.of("TimeAdvance", "TransportConnections");

    @ArchTest
    static final ArchRule DEPENDENCIES =
            ArchRuleDefinition.noClasses()
                    .that()
                    .resideOutsideOfPackages(
                            "..nsim.world..",
                            "..nsim.dart..",
                            "..nsim.flesnet..",
                            "..nsim.nessie..")
                    .should()
                    .dependOnClassesThat()
                    .resideOutsideOfPackages(
                            "java..", "org.agrona..", "org.HdrHistogram..", "dev.verbena.nsim..")
                    .as("the simulator depends on nothing that has a clock, a file or a socket");

    @ArchTest
    static final ArchRule CARRIED =
            ArchitectureRules.protocolsDependOnTheContractOnly(
                    "dev.verbena.nsim..",
                    "dev.verbena.dart..",
                    "dev.verbena.flesnet..",
                    "dev.verbena.nessie..",
                    "org.HdrHistogram..");

    @ArchTest
    static final ArchRule PROTOCOLS =
            ArchRuleDefinition.noClasses()
                    .that()
                    .resideOutsideOfPackages("..nsim.dart..", "..nsim.flesnet..", "..nsim.nessie..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.dart..", "dev.verbena.flesnet..", "dev.verbena.nessie..")
                    .allowEmptyShould(true);

    /** Transports know whose thread calls them; nothing else of the simulator knows threads. */
    @ArchTest
    static void shouldTakeTheWorldFromTheEnvironment(JavaClasses classes) {
        ArchitectureRules.enginesTakeTheWorldFromTheEnvironment()
                .check(
                        classes.that(
                                DescribedPredicate.describe(
                                        "not of those that know their thread",
                                        type ->
                                                !KNOW_THEIR_THREAD.contains(
                                                        type.getSimpleName()))));
    }

    @ArchTest
    static final ArchRule LAYERS =
            ArchRuleDefinition.noClasses()
                    .that()
                    .resideInAnyPackage("..nsim.engine..", "..nsim.topology..", "..nsim.network..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.nsim", "..nsim.program..", "..nsim.scenario..");

    @ArchTest static final ArchRule NO_CIRCLE = ArchitectureRules.packagesHaveNoCircle();

    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
