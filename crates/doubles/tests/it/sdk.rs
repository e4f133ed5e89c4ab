//! The vendors' own SDKs drive a double, by `tests/sdk/drive.py`.
//!
//! It runs where the packages are: `INTERLEAF_SDK_PYTHON` names the Python of an environment
//! that has them, as `.ci/run` makes one. Else `python3` is tried, and the test says that it is
//! skipped if that has them not.

use std::process::Command;

use interleaf_doubles::{Double, Settings, environment};

/// How the script says that it lacks a package.
const SKIPPED: i32 = 77;

/// What names the Python that has the packages.
const PYTHON: &str = "INTERLEAF_SDK_PYTHON";

#[tokio::test(flavor = "multi_thread")]
async fn the_vendors_own_sdks_find_what_they_expect() {
    // Of chunks that cut every event.
    let double = Double::start(Settings::new().with_chunk(7)).await.unwrap();
    let named = std::env::var(PYTHON).ok();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/drive.py");
    let mut command = Command::new(named.as_deref().unwrap_or("python3"));
    command.args([script, &double.base_url()]);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let output = match output {
        Ok(output) if output.status.code() != Some(SKIPPED) => output,
        other => {
            let why = match &other {
                Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
                Err(error) => error.to_string(),
            };
            assert!(named.is_none(), "{PYTHON} names a Python without the packages: {why}");
            eprintln!("skipped: no Python with the vendors' SDKs here; {PYTHON} names one ({why})");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{wrong}");
    assert!(said.lines().count() > 60, "{said}");
}

/// boto3 reads `AWS_DEFAULT_REGION` alone, and other AWS SDKs read `AWS_REGION` alone.
#[test]
fn every_aws_sdk_finds_a_region_in_the_environment() {
    let set = environment("http://127.0.0.1:1");
    for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
        assert!(
            set.iter().any(|(known, region)| *known == name && region == "us-east-1"),
            "{name}"
        );
    }
}
