package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.Post;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What perftest's defaults depend on, and what is said and closed when something fails. */
class PerftestOptionsTest {
    private static final long MANY = 1 << 20;

    private static PerftestOptions options(PerftestTool tool, String line) {
        PerftestOptions options = new PerftestOptions();
        CommandLine command = new CommandLine(options);
        command.parseArgs(line.split(" "));
        options.conclude(command.getCommandSpec(), tool);
        return options;
    }

    private static int receives(String line, long most) {
        return options(PerftestTool.SEND_BW, line).receiveDepth(most);
    }

    private static int moderation(String line) {
        return options(PerftestTool.SEND_BW, line).moderation();
    }

    @Test
    void shouldPostAReceiveForEachMessageThatWouldBeLost() {
        assertThat(receives("-n 1000", MANY)).isEqualTo(512);
        assertThat(receives("-n 100", MANY)).isEqualTo(100);
        for (String type : new String[] {"UC", "UD"}) {
            assertThat(receives("-n 1000 -c " + type, MANY)).isEqualTo(1000);
            assertThat(receives("-n 100000 -c " + type, MANY)).isEqualTo(15_000);
            assertThat(receives("-n 1000 -c " + type, 700)).isEqualTo(700);
            assertThat(receives("-n 1000 -r 512 -c " + type, 700)).isEqualTo(512);
            assertThat(receives("-n 1000 -r 900 -c " + type, 700)).isEqualTo(900);
        }
    }

    @Test
    void shouldAskForEachCompletionOfLargeMessages() {
        assertThat(moderation("-s 8192")).isEqualTo(100);
        assertThat(moderation("-s 8193")).isEqualTo(1);
        assertThat(moderation("-n 1000")).isEqualTo(1);
        assertThat(moderation("-s 65536 -Q 30")).isEqualTo(30);
        assertThat(moderation("-s 64 -t 16")).isEqualTo(16);
        assertThat(moderation("-a")).isEqualTo(100);
        assertThat(moderation("-c UD")).isEqualTo(100);
    }

    @Test
    void shouldServeOneSidedToolsBlindly() {
        for (PerftestTool tool : PerftestTool.values()) {
            boolean isBlind = tool.isRead() || tool.isAtomic() || tool == PerftestTool.WRITE_BW;
            assertThat(tool.isOneSided()).as(tool.program()).isEqualTo(isBlind);
        }
    }

    @Test
    void shouldSayWhatThePortCannotDo() {
        assertThat(PerftestCommand.mtu(null, 1024, 2)).isEqualTo(1024);
        assertThat(PerftestCommand.mtu(512, 1024, 2)).isEqualTo(512);
        assertThatThrownBy(() -> PerftestCommand.mtu(2048, 1024, 2))
                .isInstanceOf(Messages.Failure.class)
                .hasMessage("-m 2048: packets of port 2 have 1024 bytes at most now");
        GidEntry entry = new GidEntry(3, 1, Gid.parse("00000000000000000000ffff0a630001"), 2, 1);
        assertThat(DeviceOptions.present(entry, "-x: entry 3", 1)).isSameAs(entry);
        assertThatThrownBy(() -> DeviceOptions.present(null, "-x: entry 40", 1))
                .isInstanceOf(Messages.Failure.class)
                .hasMessage("-x: entry 40 of port 1 is empty; verbena devices shows the table");
    }

    @Test
    void shouldSayWithWhichErrnoPostingWasRefused() {
        assertThat(PerftestEndpoint.notPosted(Post.REFUSED, 22)).hasMessageContaining("errno 22");
        assertThat(PerftestEndpoint.notPosted(Post.BACK_PRESSURED, 22))
                .hasMessageContaining("poll")
                .hasMessageNotContaining("22");
    }

    @Test
    void shouldCloseAllWhateverSomeThrow() {
        Opened opened = new Opened();
        List<Integer> closed = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            opened.add(
                    () -> {
                        closed.add(number);
                        if (number == 2) {
                            throw new Messages.Failure("first");
                        }
                        if (number == 0) {
                            throw new java.io.IOException("second");
                        }
                    });
        }
        Throwable failure = catchThrowable(opened::close);
        assertThat(closed).containsExactly(3, 2, 1, 0);
        assertThat(failure).hasMessage("first");
        assertThat(failure.getSuppressed()).hasSize(1);
        opened.close();
        assertThat(closed).hasSize(4);
    }

    @Test
    void shouldRefuseWaysThatExcludeEachOther() {
        for (String line :
                new String[] {
                    "-D 4", "-D 5 -f 3", "-D 9 -n 1000", "-D 9 -a", "-D 9 -e", "-D -1", "-D 9 -f -1"
                }) {
            assertThatThrownBy(() -> options(PerftestTool.SEND_BW, line))
                    .as(line)
                    .isInstanceOf(CommandLine.ParameterException.class)
                    .hasMessageMatching("-[Df] .*");
        }
        assertThatThrownBy(() -> options(PerftestTool.WRITE_BW, "-e"))
                .hasMessageContaining("nothing is announced");
        assertThatThrownBy(() -> options(PerftestTool.READ_LAT, "-b"))
                .hasMessageContaining("-b is for bw");
        assertThatThrownBy(() -> options(PerftestTool.READ_LAT, "-D 9 -H"))
                .hasMessageContaining("excludes -H");
        assertThat(options(PerftestTool.READ_LAT, "-D 9").hasDuration()).isTrue();
        assertThatThrownBy(() -> options(PerftestTool.SEND_BW, "-R -c UD"))
                .hasMessageContaining("-R connects RC");
        PerftestOptions timed = options(PerftestTool.SEND_BW, "-D 3 -f 1 -b");
        assertThat(timed.hasDuration() && timed.isBidirectional).isTrue();
        assertThat(timed.receiveDepth(MANY)).isEqualTo(512);
        assertThat(timed.iterations()).isGreaterThan(1L << 32);
    }
}
