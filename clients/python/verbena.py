"""Clients of Verbena's servers over TCP, with the standard library and NumPy.

Of the staging server, protocol STG/1:

    import verbena
    with verbena.connect("127.0.0.1:3221") as server:
        server.write("v_0", array)
        print(server.run("show();"))
        server.drain(60)

A server object may be used by several threads, one call at a time. A lost connection is not made
again. read() takes back what the sink file:DIR has written.

Of the array service:

    with verbena.arrays("127.0.0.1:4711") as service:
        service.put("t", 0, rows, start=(10, 0), shape=(40, 30))
        service.seal("t", 0)
        for version in service.versions("t", wait=10):
            print(service.get("t", numpy.s_[5:15, 2:4], version))
"""

import json
import os
import re
import secrets
import select
import socket
import struct
import threading
import time

import numpy

__all__ = ["Piece", "Server", "StagingError", "arrays", "connect", "read"]

_HEADER = struct.Struct("<4sBBHIIQQ")
_MAGIC = b"STG1"
_LENGTH_MAX = 1024
_TEXT_MAX = _LENGTH_MAX - 40
_RESULT_MAX = 1 << 28
_ALIGNMENT = 4096

_HELLO, _HELLO_ACK, _OPEN, _OPENED, _REQUEST, _GRANT, _RELEASE = range(1, 8)
_SYNC, _DONE, _ABORT, _RUN, _RUN_RESULT = range(8, 13)
_HEARTBEAT, _BYE, _EVENT, _DATA = 0x0F, 0x10, 0x11, 0x20

_FORWARDED, _ABORTED, _FAILED = 4, 5, 6
_PIN_LIMIT = 10
_IMMEDIATE, _EVEN_IF_FAILED, _TEXT_IS_DATASET = 1, 2, 4
_MORE = 2

_STATUSES = (
    "OK BAD_MESSAGE BAD_VERSION AUTH_FAILED BAD_NAME DUPLICATE BAD_SIZE NO_SPACE NO_SUCH_DATASET"
    " BAD_RANGE PIN_LIMIT IO_ERROR CHECKSUM CANCELLED SINK_DOWN SINK_REJECTED PREDECESSOR_FAILED"
    " SHUTTING_DOWN TIMEOUT TOO_MANY PARTIAL"
).split()

_TYPES = {"int8": "char", "uint8": "char", "int32": "int", "int64": "long",
          "float32": "float", "float64": "double"}
_READ = {"char": "<i1", "int": "<i4", "int32": "<i4", "long": "<i8", "int64": "<i8",
         "float": "<f4", "double": "<f8"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)


class StagingError(Exception):
    """What the server or the sink refused; status is its name, LOST without a connection."""

    def __init__(self, status, text=""):
        super().__init__(status + (": " + text if text else ""))
        self.status = status


class Piece:
    """Which part of which variable an array is: it begins at start of a global array.

    shape and start are of the elements: of vectors, without the last dimension of the array.
    """

    def __init__(self, variable, step=0, rank=0, shape=None, start=None):
        self.variable, self.step, self.rank = variable, step, rank
        self.shape, self.start = shape, start

    def _encode(self, array, vector):
        """The block; vector is the length of the elements, None of scalars."""
        own = array.shape
        if vector is not None:
            if own[-1] != vector:
                raise ValueError(f"the last dimension of {own} is not {vector}, as of the vectors")
            own = own[:-1]
        shape = tuple(self.shape or own)
        start = tuple(self.start or (0,) * len(own))
        fits = len(shape) == len(start) == len(own) <= 8 and all(
            0 <= s and s + n <= g for s, n, g in zip(start, own, shape))
        if not fits:
            raise ValueError(f"{own} at {start} is not within {shape}")
        name = self.variable.encode()
        if len(name) > 255 or self.step < 0 or self.rank < 0:
            raise ValueError("variable, step or rank")
        numbers = shape + start + own
        fixed = struct.pack("<BBHIQ", 1, len(own), len(name), self.rank, self.step)
        return fixed + struct.pack(f"<{len(numbers)}Q", *numbers) + name


def _status(code):
    return _STATUSES[code] if code < len(_STATUSES) else f"status {code}"


class _Message:
    """What came; lose is called for what the message is too short for."""

    def __init__(self, kind, flags, status, request, body, lose):
        self.kind, self.flags, self.status, self.request = kind, flags, status, request
        self._body, self._lose = body, lose

    def get(self, form, offset):
        """A field at its offset within the whole message."""
        return struct.unpack("<" + form, self.bytes(offset, struct.calcsize("<" + form)))[0]

    def bytes(self, offset, count):
        taken = self._body[offset - _HEADER.size:offset - _HEADER.size + count]
        if len(taken) != count:
            self._lose(f"message of type {self.kind} is too short")
        return taken


class Server:
    """A connection to a staging server; see connect()."""

    def __init__(self, address, token, block_size, timeout):
        host, colon, port = address.rpartition(":")
        if not colon:
            raise ValueError(f"'{address}' is not HOST:PORT")
        if len(token) != 16 or block_size < _ALIGNMENT or block_size % _ALIGNMENT:
            raise ValueError("token of 16 bytes, block_size a multiple of 4096")
        self._lock = threading.RLock()
        self._session = self._request = 0
        self._owed, self._lost = {}, []
        self._aborted = {}
        self._sent = time.monotonic()
        self._heartbeat = 1.0
        self._why = None
        try:
            self._socket = socket.create_connection((host, int(port)), timeout)
        except OSError as error:
            raise StagingError("LOST", f"{address}: {error}") from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._greet(token, block_size)
        except BaseException:
            self._socket.close()
            raise
        self._closed = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _greet(self, token, block_size):
        body = struct.pack("<IHHQ16sI", block_size, 1, 1, secrets.randbits(64), token, 4)
        answer = self._ask(_HELLO, _HELLO_ACK, body)
        self._session = self._answered
        self._block = answer.get("I", 32) // _ALIGNMENT * _ALIGNMENT
        self._heartbeat = min(max(answer.get("I", 56), 1), 60_000) / 1000
        if self._block < _ALIGNMENT:
            raise StagingError("LOST", "the server allows blocks of no use")

    # ---- what a program calls

    def write(self, name, array, piece=None, type=None):
        """Writes an array or bytes as a dataset; returns when the server has it.

        type is SAVIME's name of the element type, "double:3" for example; unless given, that of
        the array. A piece of vectors has their length as the last dimension.
        """
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"name '{name}'")
        if isinstance(array, (bytes, bytearray, memoryview)):
            array = numpy.frombuffer(array, dtype=numpy.uint8)
        array = numpy.asarray(array)
        array = numpy.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        if array.dtype.name not in _TYPES or array.size == 0:
            raise ValueError(f"array of {array.dtype}, {array.size} elements")
        kind = _TYPES[array.dtype.name]
        length, vector = 1, None
        if type is not None:
            scalar, colon, digits = type.partition(":")
            if colon:
                length = vector = int(digits)
            if _READ.get(scalar) != _READ[kind] or length < 1 or array.size % length:
                raise ValueError(f"type '{type}' of an array of {array.dtype}")
        block = b"" if piece is None else piece._encode(array, vector)
        with self._lock:
            data = memoryview(array).cast("B")
            dataset, given = self._move(name, type or kind, array.itemsize * length, data, block)
            self._owed[dataset] = given
        return given

    def run(self, command, immediate=False, even_if_failed=False):
        """Runs a command of the sink's language, unless immediate after what was written before.

        The sink's answer; StagingError if it refuses.
        """
        flags = _IMMEDIATE * immediate | _EVEN_IF_FAILED * even_if_failed
        text = command.encode()
        with self._lock:
            if len(text) <= _TEXT_MAX:
                body = struct.pack("<II", len(text), 0) + text
            else:
                name = f"command_{secrets.token_hex(8)}"
                dataset, _ = self._move(name, "command", 1, memoryview(text), b"")
                flags |= _TEXT_IS_DATASET
                body = struct.pack("<IIQ", 0, 0, dataset)
            status, text = self._result(self._send(_RUN, body, flags))
        if status:
            raise StagingError(_status(status), text)
        return text

    def drain(self, timeout):
        """Waits until the sink has everything; StagingError naming what it never will have."""
        end = time.monotonic() + timeout
        with self._lock:
            while self._owed:
                if time.monotonic() >= end:
                    raise StagingError("TIMEOUT", f"the sink has not {sorted(self._owed.values())}")
                self._take(max(0.0, end - time.monotonic()))
            lost, self._lost = self._lost, []
        if lost:
            raise StagingError("CANCELLED", "not in the sink: " + "; ".join(lost))

    def close(self):
        """Says goodbye. What was written is in the server and goes on to the sink."""
        self._closed.set()
        with self._lock:
            if self._why is None:
                try:
                    self._send(_BYE, b"")
                except StagingError:
                    pass
                self._why = "closed"
            self._socket.close()
        self._keeper.join()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    # ---- a dataset

    def _move(self, name, kind, element_size, data, metadata):
        texts = name.encode() + kind.encode() + metadata
        body = struct.pack("<QIHHBBHI", len(data), element_size, len(name), len(kind), 0, 0,
                           len(metadata), 0) + texts
        opened = self._ask(_OPEN, _OPENED, body)
        dataset = opened.get("Q", 32)
        given = opened.bytes(58, opened.get("H", 56)).decode()
        at = number = 0
        block = self._block
        while at < len(data):
            length = min(block, len(data) - at)
            where = struct.pack("<QQII", dataset, at, length, number)
            granted = self._ask(_REQUEST, _GRANT, where, dataset, any_status=True)
            if granted.status == _PIN_LIMIT:
                shorter = granted.get("I", 48) // _ALIGNMENT * _ALIGNMENT
                if not 0 < shorter < length:
                    raise StagingError("PIN_LIMIT")
                block = shorter
                continue
            if granted.status:
                raise StagingError(_status(granted.status))
            self._send(_DATA, where, data=data[at:at + length])
            self._send(_RELEASE, struct.pack("<QII", dataset, number, 0))
            at += length
            number += 1
        self._ask(_SYNC, _DONE, struct.pack("<QQII", dataset, len(data), 0, number), dataset)
        return dataset, given

    def _result(self, request):
        """Status and text, whose length the first message announces."""
        text, total = bytearray(), None
        has_more = True
        while has_more:
            answer = self._await(_RUN_RESULT, request, any_status=True)
            part = answer.bytes(40, answer.get("I", 32))
            total = answer.get("I", 36) if total is None else total
            has_more = bool(answer.flags & _MORE)
            if total > _RESULT_MAX:
                self._lose(f"a result of {total} bytes")
            if len(part) > total - len(text):
                self._lose("a result is longer than announced")
            if has_more and not part:
                self._lose("a part of a result is empty")
            text += part
        return answer.status, text.decode(errors="replace")

    # ---- the wire

    def _send(self, kind, body, flags=0, data=b"", request=None):
        if self._why is not None:
            raise StagingError("LOST", self._why)
        if request is None:
            self._request += 1
            request = self._request
        length = _HEADER.size + len(body) + len(data)
        header = _HEADER.pack(_MAGIC, 1, kind, flags, length, 0, self._session, request)
        try:
            self._socket.sendall(header + body)
            if len(data):
                self._socket.sendall(data)
        except OSError as error:
            self._lose(str(error))
        self._sent = time.monotonic()
        return request

    def _lose(self, why):
        self._why = why
        self._lost += [f"{name}: {why}" for name in self._owed.values()]
        self._owed.clear()
        raise StagingError("LOST", why)

    def _ask(self, kind, answer, body, dataset=None, any_status=False):
        return self._await(answer, self._send(kind, body), dataset, any_status)

    def _await(self, kind, request, dataset=None, any_status=False):
        silences = 0
        while True:
            message = self._take(self._heartbeat)
            silences = silences + 1 if message is None else 0
            if silences > 10:
                self._lose("the server does not answer")
            if dataset in self._aborted:
                raise StagingError(_status(self._aborted.pop(dataset)))
            if message is not None and (message.kind, message.request) == (kind, request):
                if message.status and not any_status:
                    raise StagingError(_status(message.status))
                return message

    def _take(self, timeout):
        """The next message; None: there is none. Says now and then that this lives."""
        if self._session and time.monotonic() - self._sent >= self._heartbeat:
            self._send(_HEARTBEAT, b"", request=0)
        if self._why is not None:
            raise StagingError("LOST", self._why)
        ready, _, _ = select.select([self._socket], [], [], min(timeout, self._heartbeat))
        return self._receive() if ready else None

    def _receive(self):
        magic, version, kind, flags, length, status, session, request = _HEADER.unpack(
            self._exactly(_HEADER.size))
        if magic != _MAGIC or version != 1 or not _HEADER.size <= length <= _LENGTH_MAX:
            self._lose("what came is no STG/1 message")
        self._answered = session
        body = self._exactly(length - _HEADER.size)
        message = _Message(kind, flags, status, request, body, self._lose)
        if kind == _EVENT:
            self._on_event(message)
        elif kind == _ABORT:
            self._aborted[message.get("Q", 32)] = status
        return message

    def _exactly(self, count):
        parts = bytearray()
        while len(parts) < count:
            try:
                part = self._socket.recv(count - len(parts))
            except OSError as error:
                self._lose(str(error))
            if not part:
                self._lose("the server ended the connection")
            parts += part
        return bytes(parts)

    def _on_event(self, message):
        state = message.get("B", 40)
        if state not in (_FORWARDED, _FAILED, _ABORTED):
            return
        text = b"" if state == _FORWARDED else message.bytes(50, message.get("H", 48))
        name = self._owed.pop(message.get("Q", 32), None)
        if name is not None and state != _FORWARDED:
            self._lost.append(f"{name}: {text.decode(errors='replace')}")

    def _keep(self):
        """The server drops who is silent: this speaks while the program computes."""
        while not self._closed.wait(self._heartbeat / 2):
            if not self._lock.acquire(blocking=False):
                continue
            try:
                while self._take(0) is not None:
                    pass
            except StagingError:
                return
            finally:
                self._lock.release()


def connect(address=None, token=bytes(16), block_size=64 << 20, timeout=10.0):
    """Connects to HOST:PORT; unless given that of the variable VERBENA_STAGING_ADDRESS."""
    return Server(address or os.environ["VERBENA_STAGING_ADDRESS"], token, block_size, timeout)


def read(folder, name):
    """A dataset that the sink file:DIR has written into the folder, mapped read-only.

    A piece has its shape; vectors have their length as the last dimension.
    """
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        described = json.load(file)
    scalar, _, length = described["type"].partition(":")
    shape = tuple(described.get("shape", (-1,)))
    if length:
        shape += (int(length),)
    path = os.path.join(folder, name + ".raw")
    array = numpy.memmap(path, dtype=_READ[scalar], mode="r")
    return array.reshape(shape)


def arrays(*addresses, timeout=10.0):
    """Connects to an array service, HOST:PORT of each server in the order of their places.

    See verbena_arrays, which must lie beside this file.
    """
    import verbena_arrays
    return verbena_arrays.Arrays(addresses, timeout)
