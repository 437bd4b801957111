//! `--policy NAME|FILE`

use passhost_protocol::open_regular;
use passhost_result::Policy;
use std::io::Read;
use std::path::Path;

/// Bytes of a file that is read; a policy has a few hundred.
const LIMIT: u64 = 1 << 20;

/// The policy of that name that is compiled in, else the one in that file.
pub fn policy(text: &str) -> Result<Policy, String> {
    let unknown = match Policy::built_in(text) {
        Ok(policy) => return Ok(policy),
        Err(unknown) => unknown,
    };
    let path = Path::new(text);
    if !path.exists() {
        return Err(unknown.to_string());
    }
    let mut content = String::new();
    let read = open_regular(path).and_then(|file| file.take(LIMIT).read_to_string(&mut content));
    read.map_err(|error| format!("cannot read the policy: {error}"))?;
    let policy = Policy::parse(&content).map_err(|error| error.to_string())?;
    match policy.contradictions().first() {
        Some(what) => Err(format!("{what}; give it a name of its own")),
        None => Ok(policy),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_a_name_or_a_file_that_takes_no_name_of_ours() {
        assert_eq!(policy("strict").unwrap().name(), "strict");
        assert!(policy("lax").unwrap_err().contains("expected one of open, kernels, strict, or the path of a file"));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine.json");
        let text = policy("strict").unwrap().text().replace("\"hidden_shapes\": 1", "\"hidden_shapes\": 2");
        std::fs::write(&path, &text).unwrap();
        let path = path.to_str().unwrap();
        assert!(policy(path).unwrap_err().contains("give it a name of its own"));
        std::fs::write(path, text.replace("\"strict\"", "\"mine\"")).unwrap();
        let mine = policy(path).unwrap();
        assert_eq!((mine.name(), mine.rules().hidden_shapes), ("mine", 2));
        std::fs::write(path, text.replace("\"hidden_shapes\"", "\"hidden\"")).unwrap();
        let wrong = policy(path).unwrap_err();
        assert!(wrong.contains("unknown field `hidden`") && wrong.contains("line 7"), "{wrong}");
    }
}
