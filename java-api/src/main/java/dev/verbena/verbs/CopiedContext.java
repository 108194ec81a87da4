package dev.verbena.verbs;

/**
 * Settings that a call copies before it reads them, so that no other thread changes them meanwhile.
 *
 * @param <T> the settings' own class
 */
abstract class CopiedContext<T extends CopiedContext<T>> implements Cloneable {
    @SuppressWarnings("unchecked") // a clone is of the same class
    T copy() {
        try {
            return (T) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
