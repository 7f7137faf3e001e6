// SPDX-License-Identifier: GPL-2.0-or-later
// Threads of a pool, parallel streams, and garbage.
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Threads {
	public static void main(String[] arguments) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Future<Long>> parts = new ArrayList<>();
		for (int part = 0; part < 8; part++) {
			final int first = part * 1000;
			parts.add(pool.submit(() -> {
				Map<Integer, byte[]> kept = new HashMap<>();
				for (int i = first; i < first + 1000; i++)
					kept.put(i, new byte[2000]);
				return kept.keySet().stream().mapToLong(Integer::longValue).sum();
			}));
		}
		long sum = 0;
		for (Future<Long> part : parts)
			sum += part.get();
		pool.shutdown();
		System.gc();
		System.out.println(sum + " " + LongStream.range(0, 100000).parallel().sum());
	}
}
