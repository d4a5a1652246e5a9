/** A loop that is worth compiling. */
public class Loop {
	public static void main(String[] args) {
		long s = 0;
		for (long i = 0; i < 30000000; i++)
			s = (s * 3 + i) % 1000003;
		System.out.println(s);
	}
}
