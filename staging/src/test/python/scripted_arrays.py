"""What ArrayTcpTest lets the Python client ask servers that break the rules."""

import signal
import socket
import struct
import threading

import verbena
import verbena_arrays

GET, DESCRIBE, VERSIONS = 2, 4, 5
ANSWER, PULL, PUSH = 16, 17, 18
INT64, FLOAT64 = 7, 10
LENGTH = 8
FULL = struct.pack(">IIQ", PUSH, 8 + 8 * LENGTH, 0) + bytes(8 * LENGTH)


def longs(values):
    return struct.pack(f">I{len(values)}q", len(values), *values)


def answer(status=0, text=b"", kind=FLOAT64, shape=(LENGTH,), versions=()):
    body = struct.pack(">iI", status, len(text)) + text + bytes(-len(text) % 4)
    body += struct.pack(">qi", 3, kind) + longs(shape) + longs(versions)
    return struct.pack(">II", ANSWER, len(body)) + body


class Scripted:
    """A server that answers each request with the next bytes of its script, or calls them first.

    The script has a list for each connection.
    """

    def __init__(self, *connections):
        self.connections = connections
        self.asked = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listening.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for script in self.connections:
            with self.listening.accept()[0] as client, client.makefile("rb") as file:
                try:
                    assert file.read(4) == b"NSA1"
                    for each in script:
                        operation, length, _ = struct.unpack(">IIQ", file.read(16))
                        file.read(length)
                        self.asked.append(operation)
                        client.sendall(each() if callable(each) else each)
                    # Until the client ends it.
                    file.read()
                except (OSError, struct.error):
                    pass
        self.listening.close()


def said(call):
    try:
        return call()
    except verbena_arrays.ArrayError as error:
        return f"{error.status} {error}"


def got(service):
    return said(lambda: f"given {len(service.get('t'))}")


def with_server(name, call, *connections):
    server = Scripted(*connections)
    with verbena.arrays(server.address, timeout=30) as service:
        print(name + ":", call(service), server.asked)


def interrupted():
    """The answer to DESCRIBE comes after the program has given up waiting for it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident
    over = threading.Event()

    def late():
        signal.pthread_kill(main, signal.SIGINT)
        over.wait(30)
        return answer()

    def call(service):
        try:
            service.get("t")
        except KeyboardInterrupt:
            over.set()
        return got(service)

    with_server("interrupted", call, [late, answer()])


def spontaneous():
    """An answer that nobody asked for lies there before a request."""
    surplus = answer(versions=(1,)) + answer(versions=(2,))

    def call(service):
        first = list(service._home("t").ask(VERSIONS, "t", -1, 0)[3])
        return first + list(service._home("t").ask(VERSIONS, "t", -1, 0)[3])

    with_server("spontaneous", call, [surplus], [answer(versions=(3,))])


def main():
    interrupted()
    spontaneous()
    with_server("nothing pushed", got, [answer(), answer()])
    with_server("half pushed", got, [
        answer(), struct.pack(">IIQ", PUSH, 8 + 32, 0) + bytes(32) + answer()])
    with_server("pushed", got, [answer(), FULL + answer()])
    with_server("pulled", got, [answer(), struct.pack(">IIQQ", PULL, 16, 0, 8) + FULL + answer()])
    with_server("pushed at once", got, [FULL + answer()])
    with_server("status", got, [answer(77, b"of later")])
    with_server("type 0", got, [answer(kind=0)])
    with_server("type 11", got, [answer(kind=11)])
    with_server("too long", got, [struct.pack(">II", ANSWER, 0xFFFFFFFF)])
    dropped = answer(2, b"dropped")
    with_server("dropped, then a later one", got, [
        answer(), dropped, answer(versions=(4,)), answer(), FULL + answer()])
    with_server("dropped", got, [answer(), dropped, answer()])
    with_server("dropped version 3", lambda service: said(lambda: service.get("t", version=3)), [
        answer(), dropped])
    longest = answer(text=b"x" * 1024, shape=(1,) * 8, versions=range(1024))
    with_server("longest", lambda service: len(service._home("t").ask(VERSIONS, "t", -1, 0)[3]),
                [longest])


if __name__ == "__main__":
    main()
