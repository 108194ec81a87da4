package dev.verbena.shm;

import dev.verbena.transport.Status;
import dev.verbena.transport.TransportException;

/** Linux errno values that softnic answers, by name and as statuses. */
final class Errno {
    static final int ENOENT = 2;
    static final int ESRCH = 3;
    static final int EIO = 5;
    static final int EAGAIN = 11;
    static final int EACCES = 13;
    static final int ENOTCONN = 107;
    static final int ETIMEDOUT = 110;
    static final int ECONNREFUSED = 111;
    static final int EHOSTDOWN = 112;
    static final int ESTALE = 116;
    private static final int ERANGE = 34;
    private static final int EOPNOTSUPP = 95;

    private Errno() {}

    /** Status of a one-sided operation that answered {@code -errno}, or 0. */
    static int status(int result) {
        if (result >= 0) {
            return Status.OK;
        }
        return switch (-result) {
            case EACCES, EOPNOTSUPP -> Status.ACCESS;
            case ERANGE -> Status.BOUNDS;
            case ESTALE -> Status.STALE_KEY;
            case ESRCH -> Status.PEER_DEAD;
            default -> Status.INTERNAL;
        };
    }

    static String name(int errno) {
        return switch (errno) {
            case 1 -> "EPERM";
            case ENOENT -> "ENOENT";
            case ESRCH -> "ESRCH";
            case EIO -> "EIO";
            case EAGAIN -> "EAGAIN";
            case 12 -> "ENOMEM";
            case EACCES -> "EACCES";
            case 14 -> "EFAULT";
            case 16 -> "EBUSY";
            case 17 -> "EEXIST";
            case 18 -> "EXDEV";
            case 22 -> "EINVAL";
            case 24 -> "EMFILE";
            case 28 -> "ENOSPC";
            case ERANGE -> "ERANGE";
            case 36 -> "ENAMETOOLONG";
            case 71 -> "EPROTO";
            case 87 -> "EUSERS";
            case 90 -> "EMSGSIZE";
            case 91 -> "EPROTOTYPE";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case ENOTCONN -> "ENOTCONN";
            case ETIMEDOUT -> "ETIMEDOUT";
            case ECONNREFUSED -> "ECONNREFUSED";
            case EHOSTDOWN -> "EHOSTDOWN";
            case ESTALE -> "ESTALE";
            default -> "errno";
        };
    }

    /** Text for people: call, errno by name and number, softnic's own words. */
    static TransportException exception(String call, int result, String why) {
        int errno = -result;
        return new TransportException(
                call + ": " + name(errno) + " (" + errno + ")" + (why.isEmpty() ? "" : ": " + why),
                errno,
                null);
    }
}
