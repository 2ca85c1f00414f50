// alone.rs - faults that the text of one function shows, whatever its callers do, and code beside them that is right. The
// marks are those of test_examples.c.

fn sum_of(prices: &[i32]) -> i32 {
    let mut sum = 0;
    for i in 0..=prices.len() { // FIRES off-by-one/behind
        sum += prices[i]; // FIRES missing-bounds-check/index
    }
    sum
}

fn quiet_off_by_one(prices: &[i32]) -> i32 {
    let mut sum = 0;
    for i in 0..prices.len() {
        sum += prices[i]; // FIRES missing-bounds-check/index
    }
    sum
}

fn billing_of() -> String {
    let billing = "sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E"; // FIRES hardcoded-secret/live-key
    billing.to_string()
}

fn quiet_hardcoded_secret() -> String {
    let prefix = "sk_live_";
    prefix.to_string()
}
