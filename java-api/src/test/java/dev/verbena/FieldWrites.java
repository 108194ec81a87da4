package dev.verbena;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaFieldAccess.AccessType;
import com.tngtech.archunit.junit.ArchTest;
import java.util.Set;
import java.util.TreeSet;

/** A class writes its own fields only. A class and those nested in it are one. */
public final class FieldWrites {
    private FieldWrites() {}

    @ArchTest
    static void shouldWriteOwnFieldsOnly(JavaClasses classes) {
        Set<String> found = new TreeSet<>();
        for (JavaClass writer : classes) {
            for (JavaFieldAccess access : writer.getFieldAccessesFromSelf()) {
                JavaClass owner = outermost(owner(access));
                if (access.getAccessType() == AccessType.SET && !owner.equals(outermost(writer))) {
                    found.add(access.getDescription());
                }
            }
        }
        if (classes.isEmpty() || !found.isEmpty()) {
            throw new AssertionError(
                    "of "
                            + classes.size()
                            + " classes some write fields of others; give these a method that says"
                            + " what happens:\n  "
                            + String.join("\n  ", found));
        }
    }

    private static JavaClass owner(JavaFieldAccess access) {
        return access.getTarget()
                .resolveMember()
                .map(JavaField::getOwner)
                .orElse(access.getTargetOwner());
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(FieldWrites::outermost).orElse(type);
    }
}
