//! The profiles of the AWS command line: `~/.aws/credentials` and `~/.aws/config`.
//!
//! Only keys that stand in the files, the region and the endpoint are read. A profile that takes its keys from somewhere
//! else (single sign-on, another role, a program) is refused with the command that turns it into variables.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The maximum size of a file.
const MAX_FILE: u64 = 1 << 20;
/// Settings that name another source of keys.
const INDIRECT: [&str; 6] =
    ["role_arn", "credential_process", "sso_session", "sso_account_id", "web_identity_token_file", "login_session"];

/// The settings of one profile, from both files. The file `credentials` comes first.
#[derive(Debug, Default)]
pub(crate) struct Profile(BTreeMap<String, String>);

impl Profile {
    /// Reads a profile; it is empty if there is none.
    ///
    /// `is_named` says that the user asked for this profile, so that it must exist.
    pub(crate) fn read(name: &str, is_named: bool, credentials: &Path, config: &Path) -> Result<Self, String> {
        let mut settings = BTreeMap::new();
        let section = if name == "default" { "default".to_owned() } else { format!("profile {name}") };
        let mut is_found = false;
        for (path, section) in [(config, section.as_str()), (credentials, name)] {
            let Some(text) = read(path)? else { continue };
            for (key, value) in settings_of(&text, section).into_iter().inspect(|_| is_found = true) {
                settings.insert(key, value);
            }
        }
        if is_named && !is_found {
            return Err(format!("there is no profile `{name}` in {} or {}", credentials.display(), config.display()));
        }
        let has_keys = settings.contains_key("aws_access_key_id");
        if let Some(key) = INDIRECT.into_iter().find(|key| !has_keys && settings.contains_key(*key)) {
            return Err(format!(
                "the profile `{name}` takes its keys from elsewhere (`{key}`); \
                 run: eval \"$(aws configure export-credentials --profile {name} --format env)\""
            ));
        }
        Ok(Self(settings))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

fn read(path: &Path) -> Result<Option<String>, String> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let mut text = String::new();
    file.take(MAX_FILE)
        .read_to_string(&mut text)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(Some(text))
}

/// Returns the settings of a section. Nested settings, which are indented, are not for us.
fn settings_of(text: &str, section: &str) -> Vec<(String, String)> {
    let mut is_inside = false;
    let mut settings = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_inside = name.split_whitespace().eq(section.split_whitespace());
        } else if is_inside
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = bare.split_once('=')
        {
            settings.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    settings.retain(|(_, value)| !value.is_empty());
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=S=/+\n\n[ci]\n# keys\naws_access_key_id=B\n\
                               aws_secret_access_key=T\naws_session_token = U\n";
    const CONFIG: &str = "[default]\nregion=eu-west-1\ns3 =\n  addressing_style = path\n[profile ci]\nregion = us-west-2\n\
                          endpoint_url = https://s3.example.com\n[profile sso]\nsso_session = work\n";

    fn profile(name: &str) -> Result<Profile, String> {
        let files = tempfile::tempdir().unwrap();
        let [credentials, config] = ["credentials", "config"].map(|name| files.path().join(name));
        std::fs::write(&credentials, CREDENTIALS).unwrap();
        std::fs::write(&config, CONFIG).unwrap();
        Profile::read(name, true, &credentials, &config)
    }

    #[test]
    fn keys_region_and_endpoint_are_read_from_both_files() {
        let default = profile("default").unwrap();
        assert_eq!(default.get("aws_secret_access_key"), Some("S=/+"));
        assert_eq!(default.get("region"), Some("eu-west-1"));
        assert_eq!(default.get("addressing_style"), None);
        let ci = profile("ci").unwrap();
        let keys = ["aws_access_key_id", "aws_session_token", "region", "endpoint_url"];
        assert_eq!(
            keys.map(|key| ci.get(key)),
            [Some("B"), Some("U"), Some("us-west-2"), Some("https://s3.example.com")]
        );
    }

    #[test]
    fn a_profile_without_keys_of_its_own_is_refused_with_the_command_that_helps() {
        let refusal = profile("sso").unwrap_err();
        assert!(refusal.contains("sso_session") && refusal.contains("export-credentials --profile sso"), "{refusal}");
        assert!(profile("nobody").unwrap_err().contains("no profile `nobody`"));
    }

    #[test]
    fn missing_files_are_no_profile() {
        let nowhere = Path::new("/nonexistent/aws");
        assert!(Profile::read("default", false, nowhere, nowhere).unwrap().get("region").is_none());
    }
}
