package dev.verbena.jmh;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import dev.verbena.ArchitectureRules;
import dev.verbena.FieldWrites;

/** Which class writes what in this module. */
@AnalyzeClasses(packages = "dev.verbena", importOptions = ArchitectureRules.ThisModule.class)
@ArchTag("once")
class ArchitectureTest {
    @ArchTest static final ArchTests FIELDS = ArchTests.in(FieldWrites.class);
}
