package dev.verbena.cli;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;

/** Each command has a package of its own; what several commands use is in shared packages. */
@AnalyzeClasses(packages = "dev.verbena.cli", importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("once")
class ArchitectureTest {
    private static final String ROOMS = "dev.verbena.cli.(*)..";
    private static final String[] SHARED = {
        "dev.verbena.cli.terminal", "dev.verbena.cli.report", "dev.verbena.cli.transfer"
    };

    @ArchTest static final ArchRule noCircle = ArchitectureRules.packagesHaveNoCircle();

    @ArchTest
    static final ArchRule aRoomUsesNoOtherRoom =
            slices().matching(ROOMS)
                    .should()
                    .notDependOnEachOther()
                    .ignoreDependency(alwaysTrue(), resideInAnyPackage(SHARED))
                    .as("a command's package uses shared packages, and no other command's");

    @ArchTest
    static final ArchRule theTreeOfCommandsIsKnownToNoRoom =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("dev.verbena.cli")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("dev.verbena.cli");

    /** The demo's analysis gets its data from the receiver, and from nothing else of DART's. */
    @ArchTest
    static final ArchRule theAnalysisUsesTheReceiverOnly =
            noClasses()
                    .that()
                    .resideInAPackage("dev.verbena.cli.demo.transit")
                    .should()
                    .dependOnClassesThat()
                    .haveNameMatching(
                            "dev\\.verbena\\.(transport|memory)\\..*"
                                    + "|dev\\.verbena\\.dart\\.(?!DartReceiver|ReceiverStatistics|DartMessage|DartMetadata).*")
                    .as("the demo's analysis knows of DART its receiver and its messages only");

    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
