//! Amazon's signatures, and the credentials that they are made with.
//!
//! Credentials are those of the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
//! `AWS_SESSION_TOKEN`), else those of the profile (`AWS_PROFILE`, or `default`) in
//! `~/.aws/credentials` or `~/.aws/config`. The region is that of the address, of
//! `AWS_REGION`, `AWS_DEFAULT_REGION`, or of the profile.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use interleaf::model::Secret;
use interleaf::wire::Http;
use reqwest::header::{HeaderName, HeaderValue};
use sha2::{Digest as _, Sha256};

use crate::ErrorKind;
use crate::failed::Failed;

/// The service that requests are signed for.
const SERVICE: &str = "bedrock";

/// No file of settings is larger; the rest is not read.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// Where the settings of the AWS tools lie.
struct Setup<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
}

const SETUP: Setup<'static> = Setup { variable: &variable };

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn refuse(text: impl Into<String>) -> Failed {
    Failed::new(ErrorKind::Key, text)
}

/// The address of Bedrock in the user's region.
pub(crate) fn address() -> Result<String, Failed> {
    let region = SETUP.region().ok_or_else(regionless)?;
    Ok(format!("https://bedrock-runtime.{region}.amazonaws.com"))
}

fn regionless() -> Failed {
    let text = "no AWS region is known: set AWS_REGION, or the base URL";
    Failed::new(ErrorKind::Request, text)
}

/// The headers that sign a request.
pub(crate) fn signature(
    http: &Http,
    body: &[Bytes],
) -> Result<Vec<(HeaderName, HeaderValue)>, Failed> {
    let credentials = SETUP.credentials()?;
    let region = region_of(&http.url).map(str::to_owned).or_else(|| SETUP.region());
    let region = region.ok_or_else(regionless)?;
    signed(http, body, credentials, &region, SystemTime::now())
}

/// The token of a session, which is sent with each request.
pub(crate) fn session_token() -> Option<Secret> {
    SETUP.credentials().ok()?.session_token().map(Secret::new)
}

fn signed(
    http: &Http,
    body: &[Bytes],
    credentials: Credentials,
    region: &str,
    time: SystemTime,
) -> Result<Vec<(HeaderName, HeaderValue)>, Failed> {
    // What the signing library says may quote what it was given.
    let failed = |_| refuse("the request cannot be signed with these AWS credentials");
    let identity = credentials.into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(SERVICE)
        .time(time)
        .settings(SigningSettings::default())
        .build()
        .map_err(|_| failed(()))?
        .into();
    let mut hash = Sha256::new();
    body.iter().for_each(|piece| hash.update(piece));
    let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let headers = http.headers.iter().map(|(name, value)| (name.as_str(), value.expose()));
    let request =
        SignableRequest::new(http.method, &http.url, headers, SignableBody::Precomputed(hash));
    let request = request.map_err(|_| failed(()))?;
    let (instructions, _) = sign(request, &parameters).map_err(|_| failed(()))?.into_parts();
    let mut signed = Vec::new();
    for (name, value) in instructions.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| failed(()))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| failed(()))?;
        value.set_sensitive(true);
        signed.push((name, value));
    }
    Ok(signed)
}

/// The region in an address such as `https://bedrock-runtime.eu-west-1.amazonaws.com/model/…`.
fn region_of(url: &str) -> Option<&str> {
    let host = url.split_once("://")?.1.split(['/', ':', '?']).next()?;
    let rest =
        host.strip_prefix("bedrock-runtime.").or(host.strip_prefix("bedrock-runtime-fips."))?;
    let (region, domain) = rest.split_once('.')?;
    domain.starts_with("amazonaws.com").then_some(region)
}

impl Setup<'_> {
    fn region(&self) -> Option<String> {
        let named = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().find_map(|v| (self.variable)(v));
        named.or_else(|| self.in_profile(&self.file("AWS_CONFIG_FILE", "config")?, "region"))
    }

    fn credentials(&self) -> Result<Credentials, Failed> {
        let var = self.variable;
        let (id, secret) = (var("AWS_ACCESS_KEY_ID"), var("AWS_SECRET_ACCESS_KEY"));
        if let (Some(id), Some(secret)) = (id, secret) {
            return Ok(credentials(id, secret, var("AWS_SESSION_TOKEN")));
        }
        let files = [("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config")];
        for text in files.iter().filter_map(|(variable, name)| self.file(variable, name)) {
            let field = |name| self.in_profile(&text, name);
            if let (Some(id), Some(secret)) =
                (field("aws_access_key_id"), field("aws_secret_access_key"))
            {
                return Ok(credentials(id, secret, field("aws_session_token")));
            }
        }
        let profile = self.profile();
        Err(refuse(format!(
            "no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY, or keep them in ~/.aws/credentials (profile {profile:?})"
        )))
    }

    fn profile(&self) -> String {
        (self.variable)("AWS_PROFILE").unwrap_or_else(|| "default".to_owned())
    }

    /// The text of a file of the AWS tools.
    fn file(&self, variable: &str, name: &str) -> Option<String> {
        let usual = || {
            let home = (self.variable)("HOME").or_else(|| (self.variable)("USERPROFILE"))?;
            Some(PathBuf::from(home).join(".aws").join(name))
        };
        let path = (self.variable)(variable).map(PathBuf::from).or_else(usual)?;
        // Neither a pipe nor a device, which may never end.
        let file = std::fs::metadata(&path).is_ok_and(|of| of.is_file()).then_some(path)?;
        let mut text = String::new();
        std::fs::File::open(file).ok()?.take(LARGEST_FILE).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// A field of the profile in the text of such a file.
    fn in_profile(&self, text: &str, field: &str) -> Option<String> {
        let profile = self.profile();
        let mut is_inside = false;
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let name = name.trim();
                is_inside = name.strip_prefix("profile ").map_or(name, str::trim) == profile;
            } else if is_inside
                && let Some((name, value)) = line.split_once('=')
                && name.trim() == field
                && !value.trim().is_empty()
            {
                return Some(value.trim().to_owned());
            }
        }
        None
    }
}

fn credentials(id: String, secret: String, token: Option<String>) -> Credentials {
    Credentials::new(id, secret, token, None, "interleaf")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use interleaf::wire::{Options, Vendor};

    use super::*;

    #[test]
    fn the_region_is_that_of_the_address() {
        let of =
            |host: &str| region_of(&format!("https://{host}/model/m/converse")).map(str::to_owned);
        assert_eq!(of("bedrock-runtime.eu-west-1.amazonaws.com").as_deref(), Some("eu-west-1"));
        assert_eq!(
            of("bedrock-runtime.cn-north-1.amazonaws.com.cn").as_deref(),
            Some("cn-north-1")
        );
        assert_eq!(of("localhost:8080"), None);
        assert_eq!(of("bedrock-runtime.eu-west-1.example.com"), None);
    }

    /// The id, secret and token that are found with these variables, and the region.
    fn found(variables: &[(&str, &str)]) -> (Result<[String; 3], String>, Option<String>) {
        let variable = |name: &str| {
            let own = variables.iter().find(|(known, _)| *known == name);
            own.map(|(_, value)| (*value).to_owned())
        };
        let setup = Setup { variable: &variable };
        let credentials = setup.credentials().map(|found| {
            let token = found.session_token().unwrap_or_default();
            [found.access_key_id(), found.secret_access_key(), token].map(str::to_owned)
        });
        (credentials.map_err(|failed| failed.text), setup.region())
    }

    fn three(id: &str, secret: &str, token: &str) -> Result<[String; 3], String> {
        Ok([id, secret, token].map(str::to_owned))
    }

    #[test]
    fn credentials_and_region_are_those_of_the_environment_else_of_the_profile_in_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let aws = folder.path().join(".aws");
        std::fs::create_dir(&aws).unwrap();
        let credentials = "[default]\naws_access_key_id = AKIDEFAULT\naws_secret_access_key=s0\n\
                           [work]\naws_access_key_id=AKIWORK\naws_secret_access_key = s1\n\
                           aws_session_token = t1\n[half]\naws_access_key_id = AKIHALF\n";
        std::fs::write(aws.join("credentials"), credentials).unwrap();
        let config = "[default]\nregion = us-east-2\n[profile work]\nregion = eu-north-1\n\
                      aws_access_key_id=AKICONFIG\naws_secret_access_key=s2\n\
                      [profile half]\naws_access_key_id=AKIWHOLE\naws_secret_access_key=s3\n";
        std::fs::write(aws.join("config"), config).unwrap();
        let home = ("HOME", folder.path().to_str().unwrap());
        let region = |name: &str| Some(name.to_owned());
        assert_eq!(found(&[home]), (three("AKIDEFAULT", "s0", ""), region("us-east-2")));
        // What is kept as credentials comes before the configuration.
        let work = [home, ("AWS_PROFILE", "work")];
        assert_eq!(found(&work), (three("AKIWORK", "s1", "t1"), region("eu-north-1")));
        // Half of a pair is none.
        let half = [home, ("AWS_PROFILE", "half")];
        assert_eq!(found(&half), (three("AKIWHOLE", "s3", ""), None));
        // The environment comes first, as a pair.
        let id = ("AWS_ACCESS_KEY_ID", "AKIENV");
        let own = [home, id, ("AWS_SECRET_ACCESS_KEY", "s9"), ("AWS_REGION", "sa-east-1")];
        assert_eq!(found(&own), (three("AKIENV", "s9", ""), region("sa-east-1")));
        assert_eq!(found(&[home, id]).0, three("AKIDEFAULT", "s0", ""));
        // Files at other places.
        let place = aws.join("credentials");
        let elsewhere = [("AWS_SHARED_CREDENTIALS_FILE", place.to_str().unwrap())];
        assert_eq!(found(&elsewhere), (three("AKIDEFAULT", "s0", ""), None));
        let (none, _) = found(&[home, ("AWS_PROFILE", "nobody")]);
        assert!(none.unwrap_err().contains("profile \"nobody\""));
    }

    /// The same request, signed by botocore 1.43's `SigV4Auth` at the same time.
    #[test]
    fn a_signature_is_the_one_that_amazons_own_library_makes() {
        let vendor = Vendor::named("bedrock").unwrap().clone();
        let vendor = vendor.base_url("https://bedrock-runtime.us-east-1.amazonaws.com");
        let options = Options::model("anthropic.claude-sonnet-4-5-20250929-v1:0");
        let http = vendor.http(&options, None).unwrap();
        assert!(http.needs_signature);
        let time = UNIX_EPOCH + Duration::from_secs(1_760_000_000);
        let own =
            credentials("AKIDEXAMPLE".into(), "wJalrXUtnFEMI/K7MDENG".into(), Some("tok".into()));
        let body = [Bytes::from_static(b"{\"messages\":"), Bytes::from_static(b"[]}")];
        let headers = signed(&http, &body, own, "us-east-1", time).unwrap();
        let header = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name).unwrap();
            found.1.to_str().unwrap().to_owned()
        };
        assert_eq!(header("x-amz-date"), "20251009T085320Z");
        assert_eq!(header("x-amz-security-token"), "tok");
        assert_eq!(
            header("authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20251009/us-east-1/bedrock/aws4_request, \
             SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token, \
             Signature=75a4123b7609178b575dd89a2a9ab96d9b27b6f2f1313ee1393b0a23c4dde628"
        );
        assert!(format!("{headers:?}").find("AKIDEXAMPLE").is_none());
    }
}
