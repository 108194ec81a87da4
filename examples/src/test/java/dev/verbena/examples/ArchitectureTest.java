package dev.verbena.examples;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;

/** Examples are what a user copies: nothing in them that a user has not got. */
@AnalyzeClasses(
        packages = "dev.verbena.examples",
        importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest
    static final ArchRule examplesUseThePublicApiOnly =
            classes()
                    .should()
                    .onlyDependOnClassesThat()
                    .resideInAnyPackage(
                            "dev.verbena.examples..",
                            "dev.verbena.transport",
                            "dev.verbena.memory",
                            "dev.verbena.agent",
                            "dev.verbena.dart",
                            "dev.verbena.nessie",
                            "dev.verbena.nessie.nnti",
                            "dev.verbena.nessie.rpc",
                            "dev.verbena.nessie.service",
                            "dev.verbena.nessie.xdr",
                            "dev.verbena.savime",
                            "dev.verbena.savime.query",
                            "dev.verbena.staging.exchange",
                            "dev.verbena.staging.metadata",
                            "dev.verbena.staging.sink",
                            "dev.verbena.portals",
                            "dev.verbena.ugni",
                            "dev.verbena.nsim",
                            "dev.verbena.nsim.network",
                            "dev.verbena.nsim.program",
                            "dev.verbena.nsim.topology",
                            "org.agrona..",
                            "java..")
                    .as("examples depend on exported packages only");

    @ArchTest static final ArchRule noCircle = ArchitectureRules.packagesHaveNoCircle();

    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
