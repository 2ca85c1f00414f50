package example.fernhill.billing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;

/**
 * Client of the payment provider. Every call that moves money carries an idempotency key, so that
 * a retry after a lost answer does not move it twice.
 */
public class PaymentProvider {
    private static final String WEBHOOK_SECRET = "tulip-harbour-9vQ2mZ7tK4xLr8";

    private final URI base;
    private final String apiKey;
    private final HttpClient http;
    private final ObjectMapper json = new ObjectMapper();

    public PaymentProvider(URI base, String apiKey) {
        this(base, apiKey, HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build());
    }

    PaymentProvider(URI base, String apiKey, HttpClient http) {
        this.base = base;
        this.apiKey = apiKey;
        this.http = http;
    }

    /** What the provider thinks of a payment. */
    public enum State {
        PENDING,
        SUCCEEDED,
        DECLINED
    }

    public record PaymentSession(String id, URI redirect) {}

    /** Opens a payment session, in which the customer types the card number into the provider's page. */
    public PaymentSession openSession(Money amount, String orderId) throws IOException, InterruptedException {
        JsonNode answer =
                post("/sessions", Map.of("amount", amount.minor(), "currency", amount.currency().getCurrencyCode(), "reference", orderId), orderId);
        return new PaymentSession(answer.required("id").asText(), URI.create(answer.required("redirect").asText()));
    }

    public State stateOf(String sessionId) throws IOException, InterruptedException {
        HttpRequest request = request("/sessions/" + sessionId).GET().build();
        return State.valueOf(send(request).required("state").asText().toUpperCase(java.util.Locale.ROOT));
    }

    /** Sends money back. The provider refuses more than was paid. */
    public String refund(String sessionId, Money amount, String reason) throws IOException, InterruptedException {
        JsonNode answer = post("/refunds", Map.of("session", sessionId, "amount", amount.minor(), "reason", reason), UUID.randomUUID().toString());
        return answer.required("id").asText();
    }

    /** Moves what was collected to another account of ours. */
    public String transfer(String fromAccount, String toAccount, Money amount) throws IOException, InterruptedException {
        JsonNode answer = post("/transfers", Map.of("from", fromAccount, "to", toAccount, "amount", amount.minor()), UUID.randomUUID().toString());
        return answer.required("id").asText();
    }

    public boolean isFromProvider(String body, String signature) {
        return WebhookSignature.matches(WEBHOOK_SECRET, body, signature);
    }

    private JsonNode post(String path, Map<String, Object> body, String idempotencyKey) throws IOException, InterruptedException {
        HttpRequest request =
                request(path)
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", idempotencyKey)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(json.writeValueAsBytes(body)))
                        .build();
        return send(request);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(base.resolve(base.getPath() + path))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + apiKey);
    }

    private JsonNode send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() >= 500 || response.statusCode() == 429) {
            throw new RetryableException("provider: status " + response.statusCode());
        }
        if (response.statusCode() >= 400) {
            throw new IOException("provider refused: status " + response.statusCode());
        }
        return json.readTree(response.body());
    }

    /** A failure that may go away. */
    public static final class RetryableException extends IOException {
        public RetryableException(String message) {
            super(message);
        }
    }
}
