# Connects to a shared-memory link as an untrusted end.
import array, mmap, os, random, select, socket, struct, sys, time

way, name, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
address = "\0fpga-verbs/%d/%s" % (os.getuid(), name)
magic = 0x326B6E696C2D7666
greeting = struct.pack("=QII", magic, 0, 9)
random.seed(seed)
meeting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def say(text):
    print(text, flush=True)


def meet():
    meeting.connect(address)
    meeting.send(greeting)
    return socket.recv_fds(meeting, 16, 3)[1]


if way == "listens":  # brings memory that can shrink
    meeting.bind(address)
    meeting.listen()
    say("ready")
    peer, _ = meeting.accept()
    peer.recv(16)
    memory = os.memfd_create("not sealed")
    os.truncate(memory, int(sys.argv[4]))
    peer.sendmsg([greeting], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [memory]))])
    peer.recv(16)
elif way == "leaves":  # before it has welcomed who comes, or in the middle
    meeting.bind(address)
    meeting.listen()
    say("ready")
    select.select([meeting], [], [])
    if sys.argv[4] == "welcomed":
        meeting.accept()
elif way == "half":  # comes to many, or often, and says nothing
    count, names = int(sys.argv[4]), sys.argv[5:]
    kept = []
    for each in names:
        for _ in range(count):
            kept.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            kept[-1].connect("\0fpga-verbs/%d/%s" % (os.getuid(), each))
    say("ready")
    select.select([], [], [])
elif way == "descriptors":  # brings what is not asked for
    unwanted = [os.memfd_create("unwanted") for _ in range(253)]
    for count in (1, 2, 3, 4, 5, 8, 253):
        other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        other.connect(address)
        fds = array.array("i", unwanted[:count])
        other.sendmsg([greeting], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        other.recv(16)  # it is not answered, but parted with
        other.close()
    say("ready")
elif way == "deaf":  # wants to be woken by each packet, and never is
    meeting.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    memory, = meet()
    rings = mmap.mmap(memory, os.fstat(memory).st_size)
    say("ready")
    while True:
        for ring in (0, len(rings) // 4):  # the rings that the listening end fills
            tail, = struct.unpack("=Q", rings[ring : ring + 8])
            head, = struct.unpack("=Q", rings[ring + 64 : ring + 72])
            # A packet may have come just before it asked to be woken.
            if rings[ring + 72] and tail == head:
                continue
            # It was to be woken: it takes one packet, and wants to be woken again.
            rings[ring + 72 : ring + 76] = struct.pack("=I", 1)
            rings[ring + 64 : ring + 72] = struct.pack("=Q", min(tail, head + 1))
            if rings[ring + 8]:
                rings[ring + 8] = 0
                meeting.send(b"\0")
elif way == "silent":  # says nothing that means anything
    meeting.connect(address)
    meeting.send(b"good morning")
    say("ready")
    time.sleep(0.2)
else:  # writes garbage everywhere
    memory, = meet()
    rings = mmap.mmap(memory, os.fstat(memory).st_size)
    say("ready")
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        for _ in range(200):
            # The counters stand at the beginning of each of four rings.
            ring = random.randrange(4) * (len(rings) // 4)
            at = ring + random.choice([0, 8, 64, 72, 128, random.randrange(128, len(rings) // 4 - 8)])
            rings[at : at + 8] = struct.pack("=Q", random.choice([0, 1, 64, 65, 2**32, random.getrandbits(64)]))
        try:
            meeting.send(b"\0", socket.MSG_DONTWAIT)
        except OSError:
            pass
say("done")
