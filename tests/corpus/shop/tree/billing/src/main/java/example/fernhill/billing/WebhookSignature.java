package example.fernhill.billing;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Checks that a webhook was sent by the payment provider: HMAC-SHA256 over the body, in hex. */
final class WebhookSignature {
    private WebhookSignature() {}

    static boolean matches(String secret, String body, String signature) {
        if (signature == null || signature.length() != 64) {
            return false;
        }
        try {
            byte[] given = HexFormat.of().parseHex(signature);
            return MessageDigest.isEqual(given, sign(secret, body));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    static byte[] sign(String secret, String body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return mac.doFinal(body.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("no HmacSHA256", e);
        }
    }
}
