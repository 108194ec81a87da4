package dev.verbena;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest
    static final ArchRule SIGNATURES = ArchitectureRules.publicSignaturesAreFreeOfJavaCpp();

    @ArchTest static final ArchRule NO_CIRCLE = ArchitectureRules.packagesHaveNoCircle();

    @ArchTest static final ArchRule KILL_STEPS = ArchitectureRules.ordinaryBuildsHaveNoKillStep();

    @ArchTest
    static final ArchRule CONTRACT_KNOWS_NO_PROVIDER_AND_NO_BINDING =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.transport")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.shm..",
                            "dev.verbena.verbs..",
                            "..bindings..",
                            "..presets..",
                            "org.bytedeco..");

    @ArchTest
    static final ArchRule AGENTS_AND_MEMORY_KNOW_NO_PROVIDER =
            noClasses()
                    .that()
                    .resideInAnyPackage("dev.verbena.agent..", "dev.verbena.memory..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.shm..",
                            "dev.verbena.verbs..",
                            "..presets..",
                            "org.bytedeco..");

    @ArchTest
    static final ArchRule NOTHING_POINTS_UP =
            noClasses()
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.portals..",
                            "dev.verbena.dart..",
                            "dev.verbena.examples..",
                            "dev.verbena.cli..");

    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
