# SPDX-License-Identifier: GPL-2.0-or-later
"""A pool of processes, a queue, shared memory, and threads that compute in numpy."""
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import shared_memory

import numpy


def square(number):
    return number * number


def fill(name, queue):
    block = shared_memory.SharedMemory(name=name)
    block.buf[:4] = b"done"
    block.close()
    queue.put("filled")


if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        print(pool.map(square, range(10)))
    block = shared_memory.SharedMemory(create=True, size=4096)
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=fill, args=(block.name, queue))
    child.start()
    print(queue.get())
    child.join()
    print(bytes(block.buf[:4]), child.exitcode)
    block.close()
    block.unlink()
    with ThreadPoolExecutor(3) as threads:
        print(list(threads.map(lambda n: int(numpy.arange(n).sum()), [10, 1000, 100000])))
