"""Client of Verbena's array service over TCP, with the standard library and NumPy.

    import verbena
    with verbena.arrays("127.0.0.1:4711") as service:
        service.put("t", 0, rows, start=(10, 0), shape=(40, 30))
        service.seal("t", 0)
        for version in service.versions("t", wait=10):
            print(service.get("t", numpy.s_[5:15, 2:4], version))

An object is for one thread. docs/nessie-arrays.md describes the service.
"""

import math
import socket
import struct
import time
import zlib

import numpy

__all__ = ["ArrayError", "Arrays"]

_PUT, _GET, _SEAL, _DESCRIBE, _VERSIONS, _OPEN = range(1, 7)
_ANSWER, _PULL, _PUSH = 16, 17, 18
_NAME_MAX = 128
# The longest legal one, with 1,024 versions and a text of 1,024 bytes, is below 10 KB.
_ANSWER_MAX = 64 << 10
_ARRAY_TYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
_ARRAY_STATUSES = (
    "OK BAD_REQUEST UNKNOWN MISMATCH OUTSIDE OVERLAP SEALED NOT_COVERED DEADLINE TOO_LARGE BUSY"
    " WRONG_SERVER FAILED"
).split()


class ArrayError(Exception):
    """What an array server refused; status is its name, FAILED without a connection."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def _longs(values):
    return struct.pack(f">I{len(values)}q", len(values), *values)


def _dtype(kind):
    return numpy.dtype(_ARRAY_TYPES[kind - 1]).newbyteorder("<")


def _box(start, count):
    return _longs(start) + _longs(count)


class _Server:
    """A connection to one array server."""

    def __init__(self, address, place, places, timeout):
        host, colon, port = address.rpartition(":")
        if not colon:
            raise ValueError(f"'{address}' is not HOST:PORT")
        self.place, self.places, self.timeout = place, places, timeout
        self._address = host, int(port)
        self._connect()

    def _connect(self):
        self._socket = socket.create_connection(self._address, self.timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(b"NSA1")

    def _is_quiet(self):
        """Whether there is nothing to read: no end, and no answer that nobody waits for."""
        try:
            self._socket.setblocking(False)
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def ask(self, operation, name, number, wait, kind=0, shape=(), box=None, outer=None, data=None):
        """Asks, and moves bytes of data as the server says; version, type, shape, versions."""
        text = name.encode()
        if not 1 <= len(text) <= _NAME_MAX:
            raise ValueError(f"name of {len(text)} bytes; possible are 1 to {_NAME_MAX}")
        request = struct.pack(">iiI", self.place, self.places, len(text))
        request += text + bytes(-len(text) % 4) + struct.pack(">qi", number, kind) + _longs(shape)
        request += _box(*(box or ((), ()))) + _box(*(outer or ((), ())))
        request += struct.pack(">q", int(wait * 1000))
        size = 0 if data is None else len(data)
        part = 0 if data is None else math.prod(box[1]) * _dtype(kind).itemsize
        try:
            self._prepare(wait)
            self._socket.sendall(struct.pack(">IIQ", operation, len(request), size) + request)
            return self._answer(operation, self._exchange(operation, data, part))
        except ArrayError:
            # What the server refused: the connection is as it was.
            raise
        except (OSError, struct.error) as error:
            self.close()
            raise ArrayError("FAILED", f"server {self.place} of {self.places}: {error}") from error
        except BaseException:
            # The answer may still come, and would be taken for that of the next request.
            self.close()
            raise

    def _prepare(self, wait):
        if self._socket.fileno() < 0:
            raise OSError("the connection was closed: connect again")
        if not self._is_quiet():
            self._socket.close()
            self._connect()
        self._socket.settimeout(wait + self.timeout)

    def _exchange(self, operation, data, part):
        """Moves bytes until the answer is there, of which OK needs all of this part to be moved."""
        moved = 0
        while True:
            what, length = struct.unpack(">II", self._exactly(8))
            if what != _ANSWER:
                moved += self._move(operation, what, length, data)
            elif length > _ANSWER_MAX:
                raise OSError(f"an answer of {length} bytes")
            else:
                body = self._exactly(length)
                if body[:4] == bytes(4) and moved != part:
                    raise OSError(f"{moved} bytes were moved instead of {part}")
                return body

    def _move(self, operation, what, length, data):
        if operation == _PUT and what == _PULL and length == 16:
            offset, count = struct.unpack(">QQ", self._exactly(16))
            if count > len(data) or offset > len(data) - count:
                raise OSError("the server wants more than there is")
            self._socket.sendall(data[offset:offset + count])
            return count
        if operation == _GET and what == _PUSH and length >= 8:
            offset, = struct.unpack(">Q", self._exactly(8))
            self._into(data[offset:offset + length - 8], length - 8)
            return length - 8
        raise OSError("what came is no message of the array service")

    @staticmethod
    def _answer(operation, body):
        status, length = struct.unpack_from(">iI", body)
        text = body[8:8 + length].decode(errors="replace")
        if status:
            is_known = 0 < status < len(_ARRAY_STATUSES)
            raise ArrayError(_ARRAY_STATUSES[status] if is_known else "FAILED", text)
        at = 8 + length + -length % 4
        number, kind, count = struct.unpack_from(">qiI", body, at)
        shape = struct.unpack_from(f">{count}q", body, at + 16)
        at += 16 + 8 * count
        count, = struct.unpack_from(">I", body, at)
        versions = struct.unpack_from(f">{count}q", body, at + 4)
        if operation == _DESCRIBE and not (1 <= kind <= len(_ARRAY_TYPES) and shape):
            raise OSError(f"an array of type {kind}, shape {shape}")
        return number, kind, shape, versions

    def _exactly(self, length):
        data = bytearray(length)
        self._into(memoryview(data), length)
        return bytes(data)

    def _into(self, view, length):
        if len(view) != length:
            raise OSError("the server sends more than was asked for")
        while view:
            count = self._socket.recv_into(view)
            if count == 0:
                raise OSError("the server ended the connection")
            view = view[count:]

    def close(self):
        self._socket.close()


class Arrays:
    """Connections to all servers of an array service, in the order of their places."""

    def __init__(self, addresses, timeout):
        self._servers = []
        if not addresses:
            raise ValueError("no address of a server")
        try:
            for place, address in enumerate(addresses):
                self._servers.append(_Server(address, place, len(addresses), timeout))
        except BaseException:
            self.close()
            raise

    def put(self, name, version, array, start=None, shape=None):
        """Puts an array as a piece that begins at start of a whole array of this shape."""
        array = numpy.asarray(array)
        array = numpy.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        if array.dtype.name not in _ARRAY_TYPES or array.ndim == 0 or array.size == 0:
            raise ValueError(f"array of {array.dtype}, shape {array.shape}")
        kind = _ARRAY_TYPES.index(array.dtype.name) + 1
        shape, start = tuple(shape or array.shape), tuple(start or (0,) * array.ndim)
        data = memoryview(array).cast("B")
        outer = start, array.shape
        for server, box in self._parts(shape, outer):
            if box is not None:
                server.ask(_PUT, name, version, server.timeout, kind, shape, box, outer, data)
            elif server is self._home(name):
                server.ask(_OPEN, name, version, 0, kind, shape)

    def seal(self, name, version):
        """Ends a version: it takes no more pieces, and is on disk when this returns."""
        _, kind, shape, _ = self._home(name).ask(_DESCRIBE, name, version, 0)
        home = self._home(name)
        for server in [each for each in self._servers if each is not home] + [home]:
            server.ask(_SEAL, name, version, server.timeout, kind, shape)

    def get(self, name, box=None, version=None, wait=0):
        """The elements of a box, a tuple of slices as numpy.s_ makes them; None: all.

        version None is the newest that is sealed; wait is in seconds, for pieces to cover the box.
        """
        end = time.monotonic() + wait
        while True:
            left = max(0, end - time.monotonic())
            number = -1 if version is None else version
            found = self._home(name).ask(_DESCRIBE, name, number, left)[:3]
            try:
                return self._elements(name, *found, box, version is None, end)
            except ArrayError as error:
                if version is not None or error.status != "UNKNOWN":
                    raise
                # It was dropped; if there is a later one, that is the newest now.
                left = max(0, end - time.monotonic())
                if next(self.versions(name, found[0], left), None) is None:
                    raise

    def _elements(self, name, number, kind, shape, box, is_sealed, end):
        slices = (box if isinstance(box, tuple) else (box,)) if box is not None else ()
        if not all(isinstance(each, slice) for each in slices):
            raise ValueError(f"box {box} is not made of slices")
        ranges = [s.indices(n) for s, n in zip(slices, shape)] + [
            (0, n, 1) for n in shape[len(slices):]]
        if len(slices) > len(shape) or any(step != 1 or a >= b for a, b, step in ranges):
            raise ValueError(f"box {box} of an array of shape {shape}")
        outer = [a for a, _, _ in ranges], [b - a for a, b, _ in ranges]
        result = numpy.empty(outer[1], dtype=_dtype(kind))
        data = memoryview(result).cast("B")
        for server, part in self._parts(shape, outer):
            if part is not None:
                # A sealed version is all there, or was dropped: no piece is waited for.
                left = 0 if is_sealed else max(0, end - time.monotonic())
                server.ask(_GET, name, number, left, kind, shape, part, outer, data)
        return result

    def versions(self, name, after=-1, wait=0):
        """Yields the sealed versions above one; waits up to so many seconds for each next one."""
        while True:
            try:
                found = self._home(name).ask(_VERSIONS, name, after, wait)[3]
            except ArrayError as error:
                if error.status != "DEADLINE":
                    raise
                found = ()
            if not found:
                return
            yield from found
            after = found[-1]

    def _home(self, name):
        return self._servers[zlib.crc32(name.encode()) % len(self._servers)]

    def _parts(self, shape, box):
        """What each server has of a box; arrays are spread in slabs of one dimension."""
        places = len(self._servers)
        fits = [i for i, n in enumerate(shape) if n >= places]
        axis = fits[0] if fits else shape.index(max(shape))
        for server in self._servers:
            first = max(shape[axis] * server.place // places, box[0][axis])
            last = min(shape[axis] * (server.place + 1) // places, box[0][axis] + box[1][axis])
            start, count = list(box[0]), list(box[1])
            start[axis], count[axis] = first, last - first
            yield server, (start, count) if first < last else None

    def close(self):
        """Ends the connections."""
        for server in self._servers:
            server.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
