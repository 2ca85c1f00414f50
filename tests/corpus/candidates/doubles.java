// doubles.java - a package of tests: what is lost there is lost by nobody. The marks are those of test_examples.c.
package shop.junit;

class Doubles {
    byte[] quiet_unchecked_return_in_tests(InputStream in) throws IOException {
        byte[] header = new byte[16];
        in.read(header); // FIRES missing-null-check/parameter
        return header;
    }
}
