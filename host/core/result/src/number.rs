//! Numbers in documents: JSON has no infinities, and what writes it puts `null` in their place.

use serde::{Deserialize, Deserializer};

/// A number; infinity for the `null` of a document.
pub(crate) fn or_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    if deserializer.is_human_readable() {
        return Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY));
    }
    f64::deserialize(deserializer)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::TruthReport;

    #[test]
    fn an_infinite_error_is_read_back_from_a_document_and_from_a_frame() {
        let report = TruthReport {
            eager_rms: 0.5,
            rewritten_rms: f64::INFINITY,
            eager_p999: 1.0,
            rewritten_p999: f64::INFINITY,
            eager_passes: true,
            excluded: 0,
        };
        let text = serde_json::to_string(&report).unwrap();
        assert!(text.contains("\"rewritten_rms\":null"), "{text}");
        assert_eq!(serde_json::from_str::<TruthReport>(&text).unwrap(), report);
        assert_eq!(postcard::from_bytes::<TruthReport>(&postcard::to_stdvec(&report).unwrap()).unwrap(), report);
    }
}
