//! The environment of the user becomes an engine.
//!
//! Only the variables in the tables below are passed on to `object_store`, which knows many more: one that switches
//! conditional creation, certificates or signatures off would break promises silently. Credentials come from these
//! variables, a profile of the AWS command line, or the role of the machine. They are remembered only to be hidden.

use std::path::PathBuf;

use ckpt_wire::is_loopback;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::connection::{self, Encryption};
use super::engine::Engine;
use super::profile::Profile;
use super::target::{Kind, Target};

/// Variables of S3 that [`s3`] itself does not know.
const AWS: [&str; 11] = [
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ENDPOINT_URL_STS",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "AWS_SERVER_SIDE_ENCRYPTION",
    "AWS_SSE_KMS_KEY_ID",
    "AWS_REQUEST_PAYER",
];
const AZURE: [(&str, AzureConfigKey); 13] = [
    ("AZURE_STORAGE_ACCOUNT", AzureConfigKey::AccountName),
    ("AZURE_STORAGE_ACCOUNT_NAME", AzureConfigKey::AccountName),
    ("AZURE_STORAGE_KEY", AzureConfigKey::AccessKey),
    ("AZURE_STORAGE_ACCOUNT_KEY", AzureConfigKey::AccessKey),
    ("AZURE_STORAGE_SAS_TOKEN", AzureConfigKey::SasKey),
    ("AZURE_STORAGE_ENDPOINT", AzureConfigKey::Endpoint),
    ("AZURE_STORAGE_USE_EMULATOR", AzureConfigKey::UseEmulator),
    ("AZURE_CLIENT_ID", AzureConfigKey::ClientId),
    ("AZURE_CLIENT_SECRET", AzureConfigKey::ClientSecret),
    ("AZURE_TENANT_ID", AzureConfigKey::AuthorityId),
    ("AZURE_AUTHORITY_HOST", AzureConfigKey::AuthorityHost),
    ("AZURE_FEDERATED_TOKEN_FILE", AzureConfigKey::FederatedTokenFile),
    ("AZURE_USE_AZURE_CLI", AzureConfigKey::UseAzureCli),
];
const GOOGLE: [(&str, GoogleConfigKey); 4] = [
    ("GOOGLE_APPLICATION_CREDENTIALS", GoogleConfigKey::ApplicationCredentials),
    ("GOOGLE_SERVICE_ACCOUNT", GoogleConfigKey::ServiceAccount),
    ("GOOGLE_SERVICE_ACCOUNT_KEY", GoogleConfigKey::ServiceAccountKey),
    ("GOOGLE_BEARER_TOKEN", GoogleConfigKey::BearerToken),
];
/// Variables whose values are never said, whatever an error is about.
const SECRET: [&str; 11] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN",
    "HTTPS_PROXY",
    "https_proxy",
];

/// Returns the value of a variable; an empty one counts as not set.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Values that no message may contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn of(lookup: Lookup<'_>) -> Self {
        Self(SECRET.iter().filter_map(|name| lookup(name)).collect())
    }

    /// Replaces each secret in a text.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

/// Makes the engine of a target; the error is a sentence for the user.
pub(crate) fn engine(target: &Target, allow_http: bool, lookup: Lookup<'_>) -> Result<Engine, String> {
    let mut secrets = Secrets::of(lookup);
    let endpoint = Endpoint { allow_http, lookup };
    let engine = match target.kind {
        Kind::S3 => s3(target, &endpoint, &mut secrets),
        Kind::Azure => azure(target, &endpoint),
        Kind::Google => google(target, lookup),
    };
    engine.map(|engine| engine.hiding(secrets.clone())).map_err(|error| secrets.hide(&error))
}

fn s3(target: &Target, endpoint: &Endpoint<'_>, secrets: &mut Secrets) -> Result<Engine, String> {
    let lookup = endpoint.lookup;
    let profile = aws_profile(lookup)?;
    let setting = |variables: &[&str], key: &str| {
        variables.iter().find_map(|name| lookup(name)).or_else(|| profile.get(key).map(str::to_owned))
    };
    let mut settings: Vec<(AmazonS3ConfigKey, String)> = Vec::new();
    for name in AWS {
        if let (Some(value), Ok(key)) = (lookup(name), name.to_ascii_lowercase().parse()) {
            settings.push((key, value));
        }
    }
    let region = setting(&["AWS_REGION", "AWS_DEFAULT_REGION"], "region");
    settings.extend(region.map(|region| (AmazonS3ConfigKey::Region, region)));
    // Keys of the environment and of a profile are never mixed.
    let keys = match lookup("AWS_ACCESS_KEY_ID") {
        Some(id) => [Some(id), lookup("AWS_SECRET_ACCESS_KEY"), lookup("AWS_SESSION_TOKEN")],
        None => ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]
            .map(|key| profile.get(key).map(str::to_owned)),
    };
    let names = [AmazonS3ConfigKey::AccessKeyId, AmazonS3ConfigKey::SecretAccessKey, AmazonS3ConfigKey::Token];
    for (name, value) in names.into_iter().zip(keys) {
        secrets.0.extend(value.clone());
        settings.extend(value.map(|value| (name, value)));
    }
    let url = setting(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], "endpoint_url");
    let encryption = endpoint.check(url.as_deref())?;
    settings.extend(url.map(|url| (AmazonS3ConfigKey::Endpoint, url)));
    connection::with_certificates(encryption, |options| {
        let builder = AmazonS3Builder::new().with_bucket_name(&target.bucket);
        let builder = settings.iter().fold(builder, |builder, (key, value)| builder.with_config(*key, value));
        let builder = builder
            .with_client_options(options)
            .with_retry(connection::no_retries())
            .with_http_connector(connection::Observed::default());
        Ok(Engine::s3(builder.build()?, target))
    })
}

fn aws_profile(lookup: Lookup<'_>) -> Result<Profile, String> {
    let named = lookup("AWS_PROFILE");
    // Keys in the environment win, as in every other program that uses them.
    if named.is_none() && lookup("AWS_ACCESS_KEY_ID").is_some() {
        return Ok(Profile::default());
    }
    let Some(home) = std::env::home_dir().map(|home| home.join(".aws")) else {
        return Ok(Profile::default());
    };
    let file = |variable, name| lookup(variable).map_or_else(|| home.join(name), PathBuf::from);
    let (credentials, config) = (file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), file("AWS_CONFIG_FILE", "config"));
    Profile::read(named.as_deref().unwrap_or("default"), named.is_some(), &credentials, &config)
}

fn azure(target: &Target, endpoint: &Endpoint<'_>) -> Result<Engine, String> {
    let lookup = endpoint.lookup;
    let settings: Vec<_> = AZURE.iter().filter_map(|(name, key)| lookup(name).map(|value| (*key, value))).collect();
    let find = |key| settings.iter().find(|(found, _)| *found == key).map(|(_, value)| value.as_str());
    let is_emulator = find(AzureConfigKey::UseEmulator).is_some_and(|value| value != "false" && value != "0");
    let url = if is_emulator {
        Some(lookup("AZURITE_BLOB_STORAGE_URL").unwrap_or_else(|| "http://127.0.0.1:10000".to_owned()))
    } else {
        find(AzureConfigKey::Endpoint).map(str::to_owned)
    };
    if find(AzureConfigKey::AccountName).is_some_and(|account| account.ends_with("-secondary")) {
        return Err("the secondary of an account is a copy made later, which cannot be a remote".to_owned());
    }
    let encryption = endpoint.check(url.as_deref())?;
    connection::with_certificates(encryption, |options| {
        let builder = MicrosoftAzureBuilder::new().with_container_name(&target.bucket);
        let builder = settings.iter().fold(builder, |builder, (key, value)| builder.with_config(*key, value));
        let builder = builder
            .with_client_options(options)
            .with_retry(connection::no_retries())
            .with_http_connector(connection::Observed::default());
        Ok(Engine::azure(builder.build()?, target))
    })
}

fn google(target: &Target, lookup: Lookup<'_>) -> Result<Engine, String> {
    connection::with_certificates(Encryption::Required, |options| {
        let builder = GoogleCloudStorageBuilder::new().with_bucket_name(&target.bucket);
        let builder = GOOGLE.iter().fold(builder, |builder, (name, key)| match lookup(name) {
            Some(value) => builder.with_config(*key, value),
            None => builder,
        });
        let builder = builder
            .with_client_options(options)
            .with_retry(connection::no_retries())
            .with_http_connector(connection::Observed::default());
        Ok(Engine::google(builder.build()?, target))
    })
}

/// The rule for endpoints that the user names.
struct Endpoint<'a> {
    allow_http: bool,
    lookup: Lookup<'a>,
}

impl Endpoint<'_> {
    /// Decides about encryption: unencrypted connections lead to this machine, unless the user allows others.
    fn check(&self, url: Option<&str>) -> Result<Encryption, String> {
        match url {
            None => Ok(Encryption::Required),
            Some(url) if url.starts_with("https://") => Ok(Encryption::Required),
            Some(url) if url.starts_with("http://") => {
                if self.allow_http || is_loopback(url) {
                    Ok(Encryption::Off)
                } else {
                    Err(format!(
                        "the endpoint {url} is not encrypted; use https, or set `remote.allow_http` in your own settings"
                    ))
                }
            }
            Some(url) => Err(format!("the endpoint {url} starts with neither https:// nor http://")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unencrypted_connections_lead_to_this_machine_only() {
        let lookup = |_: &str| None;
        let strict = Endpoint { allow_http: false, lookup: &lookup };
        for url in ["http://127.0.0.1:9000", "http://localhost", "http://[::1]:80/x", "http://127.9.9.9/"] {
            assert_eq!(strict.check(Some(url)), Ok(Encryption::Off), "{url}");
        }
        let elsewhere = [
            "http://10.0.0.1:9000",
            "http://localhost.example.com",
            "http://127.0.0.1@example.com",
            "http://127.0.0.1.example.com",
            "http://[2001:db8::1]",
            "ftp://127.0.0.1",
            "127.0.0.1:9000",
        ];
        for url in elsewhere {
            assert!(strict.check(Some(url)).is_err(), "{url}");
        }
        let relaxed = Endpoint { allow_http: true, lookup: &lookup };
        assert_eq!(relaxed.check(Some("http://10.0.0.1:9000")), Ok(Encryption::Off));
        assert_eq!(strict.check(None), Ok(Encryption::Required));
    }

    #[test]
    fn no_error_of_the_settings_says_a_secret() {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "hush-hush"),
            ("AWS_ENDPOINT_URL", "gopher://hush-hush"),
        ];
        let lookup = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let target = Target::parse("s3://team/x").unwrap();
        let error = engine(&target, false, &lookup).map(|_| ()).unwrap_err();
        assert_eq!(error, "the endpoint gopher://*** starts with neither https:// nor http://");
    }

    #[test]
    fn every_variable_of_s3_is_known_to_the_client() {
        for name in AWS {
            assert!(name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>().is_ok(), "{name}");
        }
    }
}
