//! What a browser may do with a page.

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

/// The Content-Security-Policy of a page with this style and this script: these two run, nothing is loaded, nothing is sent.
pub(crate) fn content_security_policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_style_and_script_by_hash() {
        // printf '' | openssl dgst -sha256 -binary | base64
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        let policy = content_security_policy("", "");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert_eq!(policy.matches(empty).count(), 2, "{policy}");
    }
}
