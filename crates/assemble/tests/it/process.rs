//! The same bytes in every process: hash maps are seeded anew in each.

use std::process::Command;

use interleaf_assemble::{Assembly, Outcome};
use interleaf_model::Transcript;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::case::tight_case;
use crate::scene::words;

/// In the process that has this variable, the digest is printed.
const CHILD: &str = "INTERLEAF_DIGEST";

#[test]
fn another_process_makes_the_same_bytes() {
    if std::env::var_os(CHILD).is_some() {
        println!("digest {:016x}", digest());
        return;
    }
    let child = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "process::another_process_makes_the_same_bytes", "--nocapture"]);
        let output = command.env(CHILD, "1").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split("digest ").nth(1).map(|rest| rest[..16].to_owned()).expect("a digest")
    };
    let (first, second) = (child(), child());
    assert_eq!(first, second);
    assert_eq!(first, format!("{:016x}", digest()));
}

/// FNV-1a over requests and reports of the same hundred inputs.
fn digest() -> u64 {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for _ in 0..100 {
        let case = tight_case().new_tree(&mut runner).unwrap().current();
        let said = match case.input(&words()).assemble() {
            Ok(Assembly { outcome, report }) => {
                let messages = match outcome {
                    Outcome::Ready(prompt) => prompt.messages().cloned().collect(),
                    Outcome::Waiting(_) => Vec::new(),
                };
                let transcript = Transcript { messages, ..Transcript::default() };
                format!("{}{report:?}", transcript.write())
            }
            Err(error) => error.to_string(),
        };
        for byte in said.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
