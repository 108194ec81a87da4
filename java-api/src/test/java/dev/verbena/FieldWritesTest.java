package dev.verbena;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.awt.GridBagConstraints;
import java.awt.Point;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which class writes fields of which other. */
@Tag("once")
class FieldWritesTest {
    private final JavaClasses classes =
            new ClassFileImporter().importClasses(FieldWritesTest.class, Writer.class);

    private int own;

    /** One with the class that it is nested in; inherits the fields of another. */
    private static final class Writer extends Point {
        private static final long serialVersionUID = 1L;

        void write(FieldWritesTest test, GridBagConstraints constraints) {
            test.own = constraints.fill;
            constraints.fill = test.own;
            constraints.ipadx += 2;
            y = 3;
        }
    }

    @Test
    void shouldNameWritesByOthersOnly() {
        assertThatThrownBy(() -> FieldWrites.shouldWriteOwnFieldsOnly(classes))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("GridBagConstraints.fill")
                .hasMessageContaining("GridBagConstraints.ipadx")
                .hasMessageContaining("Writer.y>")
                .hasMessageNotContaining("FieldWritesTest.own");
    }

    @Test
    void shouldRefuseToCheckNothing() {
        assertThatThrownBy(
                        () ->
                                FieldWrites.shouldWriteOwnFieldsOnly(
                                        new ClassFileImporter().importClasses()))
                .hasMessageContaining("of 0 classes");
    }
}
