//! HTTP: certificates, time limits, and the outcome of each request.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{BackoffConfig, Certificate, ClientOptions, RetryConfig};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Encryption of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encryption {
    Required,
    Off,
}

/// The end of the last request of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// There was no request yet.
    None,
    /// No connection was made, so nothing was sent.
    NotConnected,
    /// The request was sent, at least in part, and no answer came.
    Lost,
    /// The status of the answer.
    Status(u16),
}

tokio::task_local! {
    static LAST: Cell<Reply>;
}

/// Runs an operation with a time limit, and returns the end of its last request beside its result. No result means that
/// the time was over.
pub(crate) async fn observe<T>(limit: Duration, operation: impl Future<Output = T>) -> (Option<T>, Reply) {
    LAST.scope(Cell::new(Reply::None), async {
        let result = tokio::time::timeout(limit, operation).await.ok();
        (result, LAST.with(Cell::get))
    })
    .await
}

/// Connects as `object_store` does, and notes the end of every request.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    connector: ReqwestConnector,
}

impl HttpConnector for Observed {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(ObservedClient(self.connector.connect(options)?)))
    }
}

#[derive(Debug)]
struct ObservedClient(HttpClient);

impl HttpService for ObservedClient {
    // Written out, because `async_trait` would be a dependency for this line.
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            // Stands if the time is over before there is an answer.
            note(Reply::Lost);
            let result = self.0.execute(request).await;
            note(match &result {
                Ok(response) => Reply::Status(response.status().as_u16()),
                Err(error) if error.kind() == HttpErrorKind::Connect => Reply::NotConnected,
                Err(_) => Reply::Lost,
            });
            result
        })
    }
}

fn note(reply: Reply) {
    // Each operation renews the credentials that it needs, so there is always an operation around.
    let _ = LAST.try_with(|last| last.set(reply));
}

/// Returns the settings that switch the repetitions of `object_store` off.
pub(crate) fn no_retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: 0, retry_timeout: Duration::ZERO }
}

/// Builds a client that trusts the certificates of this machine, or Mozilla's where the machine has none.
pub(crate) fn with_certificates<T>(
    encryption: Encryption,
    build: impl Fn(ClientOptions) -> object_store::Result<T>,
) -> Result<T, String> {
    // Fails only if another provider was installed before; there is none.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = ClientOptions::new()
        .with_allow_http(encryption == Encryption::Off)
        // `observe` limits whole operations.
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIMEOUT);
    if encryption == Encryption::Off {
        // Reading certificates would take longer than the request.
        return build(options.with_no_system_certificates(true)).map_err(|error| error.to_string());
    }
    build(options.clone()).or_else(|_| {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        let roots = roots.filter_map(|root| Certificate::from_der(root).ok());
        let options = options.with_no_system_certificates(true);
        build(roots.fold(options, ClientOptions::with_root_certificate)).map_err(|error| error.to_string())
    })
}
