# A ping-pong of two ranks, which compare what they get: run by mpirun.
from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
for size in (1, 64, 4096, 65536, 1 << 20):
    data = bytearray(size)
    for count in range(10):
        if rank == 0:
            data[:] = bytes([count]) * size
            world.Send(data, 1)
            world.Recv(data, 1)
            assert data == bytes([count + 100]) * size
        else:
            world.Recv(data, 0)
            assert data == bytes([count]) * size
            data[:] = bytes([count + 100]) * size
            world.Send(data, 0)
    if rank == 0:
        print(size, "bytes are whole")
