// settings.java - protections that are switched off or protect nothing, and settings beside them that are right. The
// marks are those of test_examples.c.
class Settings {
    private static final Random DICE = new Random();
    private static final String SIGN_BY = "what-we-sign-by";

    class TakesAll implements X509TrustManager {
        public void checkServerTrusted(X509Certificate[] chain, String kind) { // FIRES certificate-check/empty-trust-class
        }
    }

    class TakesAllHere implements X509TrustManager {
        public void checkServerTrusted(X509Certificate[] chain, String kind) { // FIRES certificate-check/empty-trust
        }
    }

    private final TrustManager[] takesAll = { new TakesAllHere() };

    class TakesIfTold implements X509TrustManager {
        public void checkServerTrusted(X509Certificate[] chain, String kind) {
        }
    }

    private static final TrustManager[] TAKES_IF_ASKED = new TrustManager[] {
        new X509TrustManager() {
            public void checkServerTrusted(X509Certificate[] chain, String kind) {
            }
        }
    };

    private static final TrustManager[] TAKES_IF_OPEN = new TrustManager[] {
        new X509TrustManager() {
            public void checkServerTrusted(X509Certificate[] chain, String kind) { // FIRES certificate-check/empty-trust
            }
        }
    };

    private TrustManager[] managersToldOf() {
        return new TrustManager[] { new TakesIfTold() };
    }

    void initContext(SSLContext context, boolean verify, boolean isOpen) throws GeneralSecurityException {
        if (!verify) {
            context.init(null, TAKES_IF_ASKED, null); // FIRES missing-null-check/parameter
        }
        if (isOpen) {
            context.init(null, TAKES_IF_OPEN, null);
        }
        context.init(null, verify ? null : managersToldOf(), null);
    }

    class AnyHost implements HostnameVerifier {
        public boolean verify(String host, SSLSession session) { // FIRES certificate-check/any-host
            return true;
        }
    }

    void openShop(HttpsURLConnection connection) {
        connection.setHostnameVerifier((host, session) -> true); // FIRES certificate-check/host-verifier missing-null-check/parameter
    }

    SSLConnectionSocketFactory factoryOf(SSLContext context) {
        return new SSLConnectionSocketFactory(context, NoopHostnameVerifier.INSTANCE); // FIRES certificate-check/host-factory
    }

    SSLContext contextOf(SSLContextBuilder builder) throws GeneralSecurityException {
        return builder.loadTrustMaterial(null, (chain, kind) -> true).build(); // FIRES certificate-check/trust-material missing-null-check/parameter
    }

    class quiet_of_trust implements X509TrustManager {
        public void quiet_certificate_check_trust(X509Certificate[] chain, String kind) throws CertificateException {
            own.checkServerTrusted(chain, kind);
        }

        public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
            own.checkServerTrusted(chain, kind);
        }

        public boolean verify(String host, SSLSession session) {
            return host.equals(session.getPeerHost()); // FIRES missing-null-check/parameter
        }
    }

    void quiet_certificate_check_hosts(HttpsURLConnection connection, HostnameVerifier known, boolean isInsecure) {
        connection.setHostnameVerifier(known); // FIRES missing-null-check/parameter
        if (isInsecure) {
            connection.setHostnameVerifier((host, session) -> true);
        }
    }

    String userOf(HttpServletRequest request) {
        String token = request.getHeader("Authorization"); // FIRES missing-null-check/parameter
        return JWT.decode(token).getSubject(); // FIRES unverified-token/decoded missing-null-check/result-of-call
    }

    String quiet_unverified_token_issuer(HttpServletRequest request, Algorithm own) {
        String token = request.getHeader("Authorization"); // FIRES missing-null-check/parameter
        String issuer = JWT.decode(token).getIssuer(); // FIRES missing-null-check/result-of-call
        return JWT.require(own).withIssuer(issuer).build().verify(token).getSubject();
    }

    Date quiet_unverified_token_expiry(String token) {
        return JWT.decode(token).getExpiresAt(); // FIRES missing-null-check/result-of-call
    }

    Cipher blocks() throws GeneralSecurityException {
        return Cipher.getInstance("AES/ECB/PKCS5Padding"); // FIRES weak-cipher/named
    }

    IvParameterSpec start() {
        byte[] start = new byte[16];
        return new IvParameterSpec(start); // FIRES weak-cipher/fixed-iv
    }

    GCMParameterSpec nonce() {
        return new GCMParameterSpec(128, "twelve-bytes".getBytes()); // FIRES weak-cipher/fixed-nonce
    }

    IvParameterSpec quiet_weak_cipher_start(RandomSource random, byte[] given) throws GeneralSecurityException {
        byte[] start = new byte[16];
        random.nextBytes(start); // FIRES missing-null-check/parameter
        Cipher.getInstance("AES/GCM/NoPadding");
        Cipher.getInstance("RSA/ECB/OAEPWithSHA-256AndMGF1Padding");
        new GCMParameterSpec(128, given);
        return new IvParameterSpec(start);
    }

    boolean shareFile(File file) {
        return file.setWritable(true, false); // FIRES open-permissions/writable missing-null-check/parameter
    }

    Set<PosixFilePermission> forAll() {
        return PosixFilePermissions.fromString("rw-rw-rw-"); // FIRES open-permissions/posix
    }

    Set<PosixFilePermission> quiet_open_permissions_own(File file) {
        if (!file.setWritable(true, true) || !file.setReadable(true, false)) { // FIRES missing-null-check/parameter
            return null;
        }
        return PosixFilePermissions.fromString("rw-------");
    }

    String secretOf(Map<String, String> environment) {
        return environment.getOrDefault("JWT_SECRET", "not-so-long"); // FIRES hardcoded-secret/fallback missing-null-check/parameter
    }

    SecretKeySpec keyOf() {
        return new SecretKeySpec(SIGN_BY.getBytes(StandardCharsets.UTF_8), "HmacSHA256"); // FIRES hardcoded-secret/key
    }

    Algorithm algorithm() {
        return Algorithm.HMAC256(SIGN_BY); // FIRES hardcoded-secret/signs
    }

    SecretKeySpec quiet_hardcoded_secret_given(byte[] own, String word, Map<String, String> environment) {
        environment.getOrDefault("SECRET_NAME", "name-of-it"); // FIRES missing-null-check/parameter
        Algorithm.HMAC256(word);
        return new SecretKeySpec(own, "HmacSHA256");
    }

    int newToken() {
        return (int) (Math.random() * 1000000); // FIRES weak-hash/guessed
    }

    int nextToken() {
        return DICE.nextInt(1000000); // FIRES weak-hash/guessed-next
    }

    int quiet_weak_hash_dice() {
        return (int) (Math.random() * 6) + DICE.nextInt(6);
    }

    int quiet_weak_hash_session_count() {
        return (int) (Math.random() * 1000);
    }

    String quiet_weak_hash_api_key(String user, String password) {
        String apiKey = DigestUtils.md5Hex(user + ":" + password);
        return apiKey;
    }
}
