package dev.verbena.ofi;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import dev.verbena.ArchitectureRules;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
class ArchitectureTest {
    @ArchTest static final ArchTests PROVIDER = ArchTests.in(ArchitectureRules.Provider.class);
}
