//! The two halves of a key.

use crate::error::KeyError;
use crate::key_file;
use ed25519_dalek::{SECRET_KEY_LENGTH, Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// What proves who signed: everybody may know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(VerifyingKey);

/// What signs. It is cleared when it goes, and nothing prints it.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// Makes a key and writes it to a new file that only its user can read.
    ///
    /// # Errors
    ///
    /// If there is something at that path, or it cannot be written.
    pub fn create(path: &Path) -> Result<SecretKey, KeyError> {
        let mut seed = Zeroizing::new([0; SECRET_KEY_LENGTH]);
        getrandom::fill(seed.as_mut()).map_err(KeyError::Random)?;
        key_file::write(path, &seed)?;
        Ok(SecretKey::from_seed(&seed))
    }

    /// Reads a key from a file, which must be its user's alone.
    ///
    /// # Errors
    ///
    /// If it cannot be read, somebody else could read or have written it, or it is no key.
    pub fn read(path: &Path) -> Result<SecretKey, KeyError> {
        Ok(SecretKey::from_seed(&*key_file::read(path)?))
    }

    pub(crate) fn from_seed(seed: &[u8; SECRET_KEY_LENGTH]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(seed))
    }

    /// The half that others know.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; Signature::BYTE_SIZE] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SecretKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretKey").field(&self.public()).finish()
    }
}

impl PublicKey {
    /// Whether the other half signed this. Signatures that fit several messages or keys fit none here.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; Signature::BYTE_SIZE]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

impl TryFrom<String> for PublicKey {
    type Error = String;

    fn try_from(text: String) -> Result<PublicKey, String> {
        text.parse()
    }
}

impl std::str::FromStr for PublicKey {
    type Err = String;

    /// 64 hexadecimal digits. A key under which anything could be signed is refused.
    fn from_str(text: &str) -> Result<PublicKey, String> {
        let mut bytes = [0; 32];
        let decoded = base16ct::lower::decode(text, &mut bytes).is_ok_and(|decoded| decoded.len() == 32);
        let key = VerifyingKey::from_bytes(&bytes).ok().filter(|key| decoded && !key.is_weak());
        key.map(PublicKey).ok_or_else(|| "a public key has 64 hexadecimal digits of an ed25519 key".into())
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        base16ct::lower::encode_string(key.0.as_bytes())
    }
}

impl fmt::Display for PublicKey {
    /// As trusted keys are written: `ed25519` and 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed25519 {}", String::from(*self))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hexadecimal: &str) -> [u8; N] {
        base16ct::lower::decode_vec(hexadecimal).unwrap().try_into().unwrap()
    }

    /// RFC 8032, 7.1: tests 1 to 3, and SHA(abc).
    const VECTORS: [[&str; 4]; 4] = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
        [
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
        ],
    ];

    #[test]
    fn keys_sign_as_rfc_8032_does() {
        for [seed, public, message, signature] in VECTORS {
            let (key, message) = (SecretKey::from_seed(&bytes(seed)), base16ct::lower::decode_vec(message).unwrap());
            assert_eq!(key.public().to_string(), format!("ed25519 {public}"));
            assert_eq!(key.sign(&message), bytes(signature));
            let public: PublicKey = public.parse().unwrap();
            assert!(public.has_signed(&message, &bytes(signature)));
            let mut other = bytes(signature);
            other[0] ^= 1;
            assert!(!public.has_signed(&message, &other) && !public.has_signed(b"something else", &bytes(signature)));
        }
    }

    #[test]
    fn what_is_no_key_and_a_key_under_which_all_is_signed_are_refused() {
        let [_, good, ..] = VECTORS[0];
        let small_order = "0100000000000000000000000000000000000000000000000000000000000000";
        for bad in ["", "00", &good.to_uppercase(), &good[1..], &format!("{good}00"), small_order] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
        assert!(good.parse::<PublicKey>().is_ok());
    }

    #[test]
    fn a_secret_key_is_not_printed() {
        let [seed, ..] = VECTORS[0];
        let shown = format!("{:?}", SecretKey::from_seed(&bytes(seed)));
        assert!(!shown.contains(&seed[..8]), "{shown}");
    }
}
