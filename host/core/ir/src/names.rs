//! Names of values, and of the parameters of samples as people read them.

/// Whether a value can be called this: letters, digits and `_`, and dots between them.
pub fn is_value_name(name: &str) -> bool {
    name.split('.').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Where a tensor of a model's is kept, from how TorchDynamo calls it: `layer.3.weight` of
/// `L_self_modules_layer_modules_3_parameters_weight_`. Other names are as they are.
pub fn parameter_name(name: &str) -> String {
    let marks = ["_modules_", "_parameters_", "_buffers_"];
    let path = name.strip_prefix("L_self").filter(|path| marks.iter().any(|mark| path.starts_with(mark)));
    let Some(path) = path else { return name.to_owned() };
    let path = path.strip_suffix('_').unwrap_or(path).to_owned();
    marks.iter().fold(path, |path, mark| path.replace(mark, "."))[1..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_called_by_where_the_model_keeps_it() {
        for (name, expected) in [
            (
                "L_self_modules_encoder_modules_layer_modules_3_modules_self_attn_parameters_weight_",
                "encoder.layer.3.self_attn.weight",
            ),
            ("L_self_modules_modules_parameters_weight_", "modules.weight"),
            ("L_self_parameters_weight_", "weight"),
            ("L_self_modules_bn1_buffers_running_mean_", "bn1.running_mean"),
            ("L_self_attn_", "L_self_attn_"),
            ("L_x_", "L_x_"),
            ("in_0", "in_0"),
        ] {
            assert_eq!(parameter_name(name), expected);
        }
    }

    #[test]
    fn words_of_a_name_are_not_empty() {
        let cases = [
            ("x", true),
            ("3.weight", true),
            ("", false),
            (".x", false),
            ("x.", false),
            ("a..b", false),
            ("a-b", false),
        ];
        for (name, expected) in cases {
            assert_eq!(is_value_name(name), expected, "{name}");
        }
    }
}
