// Threads that count, meet at a barrier, wait for a monitor, and make garbage.
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

class Work {
	static final AtomicBoolean stop = new AtomicBoolean();
	static final Object monitor = new Object();
	static volatile boolean last;
	static long shared;

	static long piece() {
		Map<String, Long> m = new HashMap<>();
		long h = 7;
		for (int i = 0; i < 500; i++) {
			m.put("k" + i % 50, h);
			h = h * 31 + m.size() + (long) (Math.sqrt(i) * 1000);
		}
		return h;
	}

	public static void main(String[] args) throws Exception {
		long want = piece();
		CyclicBarrier bar = new CyclicBarrier(3, () -> last = stop.get());
		Thread[] ts = new Thread[3];
		for (int i = 0; i < ts.length; i++) {
			ts[i] = new Thread(() -> {
				try {
					do {
						if (piece() != want) Runtime.getRuntime().halt(3);
						synchronized (monitor) { shared++; }
						bar.await();
					} while (!last);
				} catch (Throwable e) {
					e.printStackTrace();
					Runtime.getRuntime().halt(4);
				}
			});
			ts[i].start();
		}
		System.out.write("x".getBytes());
		System.out.flush();
		if (System.in.read() != -1) System.exit(2);
		stop.set(true);
		for (Thread t : ts) t.join();
		System.out.write("done".getBytes());
		System.out.flush();
		System.exit(shared % 3 == 0 ? 7 : 5);
	}
}
