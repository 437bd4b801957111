//! Requests that S3 knows the author of: AWS Signature Version 4.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::record::sha256;

/// What requests are signed with.
pub struct S3Credentials {
    pub access_key: String,
    pub secret: String,
    /// Of keys that hold for a while.
    pub token: Option<String>,
    pub region: String,
}

/// What is signed of a request without a query.
pub struct SignedParts<'a> {
    pub method: &'a str,
    /// As it is sent.
    pub path: &'a str,
    /// In the order of their names, which are in small letters. One is `x-amz-date`.
    pub headers: &'a [(&'a str, &'a str)],
    /// Of the body.
    pub sha256: &'a str,
    /// As in `x-amz-date`: `20130524T000000Z`.
    pub time: &'a str,
}

impl S3Credentials {
    /// The header `authorization` of a request.
    pub fn authorization(&self, parts: &SignedParts<'_>) -> String {
        let SignedParts { method, path, headers, sha256: body, time } = parts;
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let (names, day) = (names.join(";"), time.split('T').next().unwrap_or_default());
        let headers: String = headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = sha256(format!("{method}\n{path}\n\n{headers}\n{names}\n{body}").as_bytes());
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical}");
        let first = format!("AWS4{}", self.secret).into_bytes();
        let key = [day, self.region.as_str(), "s3", "aws4_request"].iter().fold(first, |key, part| mac(&key, part));
        let signature = base16ct::lower::encode_string(&mac(&key, &text));
        let access_key = &self.access_key;
        format!("AWS4-HMAC-SHA256 Credential={access_key}/{scope},SignedHeaders={names},Signature={signature}")
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // A key may have any length.
    Hmac::<Sha256>::new_from_slice(key).map_or_else(
        |_| vec![],
        |mut mac| {
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_examples_that_aws_publishes() {
        let credentials = S3Credentials {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
            region: "us-east-1".to_owned(),
        };
        let (host, time, empty) = ("examplebucket.s3.amazonaws.com", "20130524T000000Z", sha256(b""));
        let body = sha256(b"Welcome to Amazon S3.");
        let get = [("host", host), ("range", "bytes=0-9"), ("x-amz-content-sha256", &empty), ("x-amz-date", time)];
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("host", host),
            ("x-amz-content-sha256", &body),
            ("x-amz-date", time),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        for (method, path, headers, sha256, names, signature) in [
            (
                "GET",
                "/test.txt",
                &get[..],
                &empty,
                "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "PUT",
                "/test%24file.text",
                &put[..],
                &body,
                "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
        ] {
            let signed = credentials.authorization(&SignedParts { method, path, headers, sha256, time });
            assert_eq!(
                signed,
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders={names},Signature={signature}"
                )
            );
        }
    }
}
