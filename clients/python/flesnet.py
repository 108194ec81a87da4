"""Takes timeslices of a FLESnet compute node out of shared memory, with NumPy.

    from flesnet import Consumer
    with Consumer("/dev/shm/timeslices", queue="one") as consumer:
        for timeslice in consumer:
            print(timeslice.index, timeslice.microslices(0)["size"])

A timeslice is released when the next one is asked for; its arrays must not be kept beyond that.
Stores to the segment are ordered by x86-64; on other processors nothing orders them here.
The layout is that of ConsumerSegment.java.
"""

import contextlib
import ctypes
import itertools
import mmap
import os
import time

import numpy

MAGIC = 0x3153454C46425256
VERSION = 2
QUEUE = 8
FAILED = 2
BEAT_SECONDS = 1.0
SILENCE_SECONDS = 10.0
COUNTED_SECONDS = 3.0

MICROSLICE = numpy.dtype([
    ("id", "u1"), ("version", "u1"), ("equipment", "<u2"), ("flags", "<u2"), ("system", "u1"),
    ("system_version", "u1"), ("index", "<u8"), ("crc", "<u4"), ("size", "<u4"), ("offset", "<u8")])
_ENTRY = numpy.dtype([
    ("at", "<u8"), ("size", "<u4"), ("flags", "<u4"), ("microslices", "<u4"), ("present", "<u4")])
_COUNT = itertools.count(1)


class ConsumerError(Exception):
    """The segment is none, or the compute node has failed, or refused or given up this consumer."""


class Timeslice:
    """One timeslice; its arrays show the segment itself and cannot be written."""

    def __init__(self, memory):
        self._memory = memory
        self.index, self.number = (int(n) for n in memory[0:16].view("<u8"))
        self.flags, self.component_count = (int(n) for n in memory[16:24].view("<u4"))
        self.spread_ns = int(memory[24:32].view("<u8")[0])
        self._entries = memory[64:64 + 24 * self.component_count].view(_ENTRY)

    def has_component(self, component):
        """Whether this input contributed."""
        return bool(self._entries[component]["present"])

    def component_flags(self, component):
        """Bit 0: microslices are missing, bit 2: the whole component."""
        return int(self._entries[component]["flags"])

    def component(self, component):
        """All bytes of a component: descriptors, then contents."""
        at, size = (int(self._entries[component][name]) for name in ("at", "size"))
        return self._memory[at:at + size]

    def microslices(self, component):
        """Descriptors of its microslices."""
        count = int(self._entries[component]["microslices"])
        return self.component(component)[:32 * count].view(MICROSLICE)

    def contents(self, component):
        """The content of each microslice in turn."""
        data = self.component(component)
        microslices = self.microslices(component)
        at = 32 * len(microslices)
        for size in microslices["size"].tolist():
            yield data[at:at + size]
            at += size


class Consumer:
    """A consumer; iterating gives timeslices until the compute node has ended."""

    def __init__(self, path, stride=1, offset=0, queue="all", group="", name=""):
        owner = os.lstat(path).st_uid
        if owner != os.geteuid():
            # He could cut the segment off at any time, which would end this process.
            raise ConsumerError(f"{path} belongs to the user {owner}; run as the user of the compute node")
        with open(path, "r+b") as file:
            before = os.fstat(file.fileno())
            self._map = mmap.mmap(file.fileno(), 0)
        self._bytes = numpy.frombuffer(self._map, dtype="u1")
        header = self._bytes[:24].view("<u4")
        magic = int(self._bytes[:8].view("<u8")[0])
        if magic != MAGIC or header[2] != VERSION:
            raise ConsumerError(f"{path} is no segment of timeslices of this version")
        try:
            os.kill(self._read(48), 0)
        except OSError as gone:
            raise ConsumerError(f"{path} is left over: its compute node is gone") from gone
        self._workers, self._items = int(header[3]), int(header[4])
        self._item_length = int(self._bytes[24:32].view("<u8")[0])
        self._token = os.getpid() << 32 | next(_COUNT)
        self._registration = f"{path}.register-{self._token}"
        self._slot = None
        self._taken = 0
        self._is_held = False
        self._beat_at = self._heard_at = self._looked_at = time.monotonic()
        self._beat = self._heard = 0
        whole = f"{path}.new-{self._token}"
        with open(whole, "w", encoding="utf-8") as file:
            file.write(f"{stride}\n{offset}\n{queue.upper()}\n{group}\n{name}\n")
        os.rename(whole, self._registration)
        if not os.path.exists(path) or not os.path.samestat(before, os.stat(path)):
            # Another broker would take it for a consumer of its own segment.
            self.close()
            raise ConsumerError(f"{path} was replaced meanwhile; register again")

    # Whole aligned words: ctypes reads and writes them with one instruction.
    def _word(self, at, kind=ctypes.c_uint64):
        return kind.from_buffer(self._map, at)

    def _read(self, at):
        return self._word(at).value

    def _write(self, at, value):
        self._word(at).value = value

    def _ended(self):
        return self._word(40, ctypes.c_uint32).value != 0

    def _look_up(self):
        slots = (128 + 256 * worker for worker in range(self._workers))
        self._slot = next((slot for slot in slots if self._read(slot) == self._token), None)

    def _find(self):
        is_waiting = os.path.exists(self._registration)
        self._look_up()
        if self._slot is not None:
            self._write(self._slot + 144, os.getpid())
        elif not is_waiting:
            raise ConsumerError("the compute node has refused this consumer")

    def _has_more(self):
        return self._slot is not None and self._read(self._slot + 8) > self._taken

    def poll(self):
        """The next timeslice, None if there is none now. Releases the one before."""
        self.release()
        now = time.monotonic()
        if self.is_done():
            return None
        heard = self._read(32)
        # After a pause the compute node may have stood still as well.
        self._heard_at += max(0.0, now - self._looked_at - COUNTED_SECONDS)
        if heard != self._heard:
            self._heard, self._heard_at = heard, now
        self._looked_at = now
        if now - self._heard_at > SILENCE_SECONDS and not self._ended() and not self._has_more():
            raise ConsumerError("the compute node is silent")
        if self._slot is None:
            self._find()
            if self._slot is None:
                return None
        self._require_kept()
        if now - self._beat_at >= BEAT_SECONDS:
            self._beat_at = now
            self._beat += 1
            self._write(self._slot + 136, self._beat)
        if not self._has_more():
            return None
        at = self._slot + 16 + 4 * (self._taken % QUEUE)
        item = self._word(at, ctypes.c_uint32).value
        if item >= self._items:
            raise ConsumerError(f"timeslice in place {item} of {self._items}")
        self._taken += 1
        self._is_held = True
        begin = 8192 + item * self._item_length
        memory = self._bytes[begin:begin + self._item_length]
        memory.flags.writeable = False
        return Timeslice(memory)

    def _require_kept(self):
        if self._read(self._slot) != self._token:
            raise ConsumerError("the compute node has given this consumer up")

    def release(self):
        """Gives the last timeslice back."""
        if self._is_held:
            self._is_held = False
            self._require_kept()
            self._write(self._slot + 128, self._taken)

    def is_done(self):
        """Whether there will be no further timeslice. An error if the compute node has failed."""
        is_over = self._ended() and not self._is_held and not self._has_more()
        if is_over and self._word(40, ctypes.c_uint32).value == FAILED:
            raise ConsumerError("the compute node ended before it had given everything")
        return is_over

    def __iter__(self):
        while not self.is_done():
            timeslice = self.poll()
            if timeslice is None:
                time.sleep(0.001)
            else:
                yield timeslice
                self.release()

    def close(self):
        """Leaves: what it has is given back."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._registration)
        # It may be registered and have timeslices, though it has never asked for one.
        self._look_up()
        if self._slot is not None:
            self._word(self._slot + 152, ctypes.c_uint32).value = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def is_ramp(content, component):
    """Whether a content is what the pattern generator makes for this input."""
    words = content[:len(content) // 8 * 8].view("<u8")
    expected = numpy.arange(0, 8 * len(words), 8, dtype="u8") | numpy.uint64(component << 48)
    return bool((words == expected).all())


def _main(path, *options):
    count = damaged = 0
    with Consumer(path, **dict(option.split("=", 1) for option in options)) as consumer:
        for timeslice in consumer:
            count += 1
            damaged += not all(
                is_ramp(content, component)
                for component in range(timeslice.component_count)
                for content in timeslice.contents(component))
    print(f"consumer: {count} timeslices, {damaged} damaged")
    return 1 if damaged else 0


if __name__ == "__main__":
    import sys

    sys.exit(_main(*sys.argv[1:]))
