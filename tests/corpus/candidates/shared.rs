//! Futures that are dropped.

struct Log;

impl Log {
    async fn record(&self, line: &str) -> bool {
        !line.is_empty()
    }

    async fn run(&self) {
        let _ = self.record("begin"); // FIRES missing-await/future
        self.quiet_missing_await_run().await;
    }

    async fn quiet_missing_await_run(&self) {
        let _ = self.record("end").await;
        let _ = self.count("end");
    }

    fn count(&self, line: &str) -> usize {
        line.len()
    }
}
