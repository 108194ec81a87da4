package dev.verbena.verbs;

/** Linux errno values that verbs answer, by name. */
final class VerbsErrno {
    static final int EIO = 5;
    static final int EBADF = 9;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EBUSY = 16;
    static final int EOPNOTSUPP = 95;

    private VerbsErrno() {}

    static String name(int errno) {
        return switch (errno) {
            case 1 -> "EPERM";
            case 2 -> "ENOENT";
            case EIO -> "EIO";
            case 6 -> "ENXIO";
            case EBADF -> "EBADF";
            case EAGAIN -> "EAGAIN";
            case ENOMEM -> "ENOMEM";
            case 13 -> "EACCES";
            case 14 -> "EFAULT";
            case EBUSY -> "EBUSY";
            case 17 -> "EEXIST";
            case 19 -> "ENODEV";
            case 22 -> "EINVAL";
            case 24 -> "EMFILE";
            case 28 -> "ENOSPC";
            case 34 -> "ERANGE";
            case 38 -> "ENOSYS";
            case 61 -> "ENODATA";
            case 71 -> "EPROTO";
            case 90 -> "EMSGSIZE";
            case 92 -> "ENOPROTOOPT";
            case 93 -> "EPROTONOSUPPORT";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case 98 -> "EADDRINUSE";
            case 99 -> "EADDRNOTAVAIL";
            case 101 -> "ENETUNREACH";
            case 104 -> "ECONNRESET";
            case 107 -> "ENOTCONN";
            case 110 -> "ETIMEDOUT";
            case 111 -> "ECONNREFUSED";
            case 113 -> "EHOSTUNREACH";
            default -> "errno";
        };
    }
}
