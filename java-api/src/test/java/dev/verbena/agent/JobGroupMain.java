package dev.verbena.agent;

/** One process of a launched job: prints what it sees and takes part in barriers. */
public final class JobGroupMain {
    private static final long LIMIT_NS = 60_000_000_000L;

    private JobGroupMain() {}

    /** Joins, prints one line, passes barriers of both kinds. */
    public static void main(String[] args) {
        long pid = ProcessHandle.current().pid();
        try (JobGroup group = JobGroup.discover("shm://job/p" + pid, LIMIT_NS)) {
            for (int i = 0; i < 3; i++) {
                group.applicationBarrier(LIMIT_NS);
                group.barrier(LIMIT_NS);
            }
            StringBuilder line = new StringBuilder("member ");
            line.append(group.identity().launcher().replace(' ', '_'))
                    .append(' ')
                    .append(group.identity().rank())
                    .append('/')
                    .append(group.identity().size())
                    .append(' ')
                    .append(group.identity().application())
                    .append(' ')
                    .append(group.rank())
                    .append('/')
                    .append(group.size())
                    .append(' ')
                    .append(group.world().get(group.identity().rank()).pid() == pid)
                    .append(' ')
                    .append(String.join("+", group.applications()))
                    .append('\n');
            // One write: lines of several processes do not mix.
            byte[] bytes = line.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
        }
    }
}
