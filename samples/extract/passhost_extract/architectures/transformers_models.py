"""Architectures of transformers: text encoders and decoders, vision, audio and models of two kinds at once.

Widths and heads are those of the configuration classes, which are those of the published models, or smaller where those are large;
there are two layers and a vocabulary of a thousand words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..provenance import Provenance
from .catalogue import Architecture

BATCH = 2
LENGTH = 32
VOCABULARY = 1000
SPECIAL_TOKENS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LAYERS: dict[str, Any] = {"num_hidden_layers": 2}
ENCODER = {**LAYERS, "vocab_size": VOCABULARY}
DECODER = {**ENCODER, **SPECIAL_TOKENS, "use_cache": False}
LAYERS_OF_BOTH: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 2}

Inputs = Callable[[], dict[str, Tensor]]


def _model(name: str, options: dict[str, Any], inputs: Inputs) -> tuple[torch.nn.Module, dict[str, Any]]:
    import transformers

    model_class = getattr(transformers, name)
    return model_class(model_class.config_class(**options)).eval(), inputs()


def _architecture(name: str, inputs: Inputs, tag: str, **options: Any) -> Architecture:
    return Architecture(Provenance(name, "transformers", tag, options), lambda: _model(name, options, inputs))


def tokens() -> Tensor:
    return torch.randint(3, VOCABULARY, (BATCH, LENGTH))


def _tokens() -> dict[str, Tensor]:
    return {"input_ids": tokens()}


def _masked_tokens() -> dict[str, Tensor]:
    """One sequence of full length and one with padding."""
    lengths = torch.tensor([LENGTH, LENGTH - 5])
    return {"input_ids": tokens(), "attention_mask": (torch.arange(LENGTH) < lengths[:, None]).long()}


def _two_texts() -> dict[str, Tensor]:
    return {"input_ids": tokens(), "decoder_input_ids": tokens()[:, :16]}


def _boxed_tokens() -> dict[str, Tensor]:
    corner = torch.randint(0, 500, (BATCH, LENGTH, 2))
    return {"input_ids": tokens(), "bbox": torch.cat([corner, corner + torch.randint(1, 400, (BATCH, LENGTH, 2))], -1)}


def _characters() -> dict[str, Tensor]:
    return {"input_ids": torch.randint(32, 127, (BATCH, 64))}


def _image(size: int, channels: int = 3) -> Inputs:
    return lambda: {"pixel_values": torch.randn(BATCH, channels, size, size)}


def _image_and_noise() -> dict[str, Tensor]:
    # Without it the model draws the patches to hide by itself, and a sample must give the same result twice.
    return {"pixel_values": torch.randn(BATCH, 3, 224, 224), "noise": torch.rand(BATCH, 196)}


def _video(frames: int, size: int) -> Inputs:
    return lambda: {"pixel_values": torch.randn(BATCH, frames, 3, size, size)}


def _image_and_text(size: int) -> Inputs:
    return lambda: {"pixel_values": torch.randn(BATCH, 3, size, size), "input_ids": tokens()}


def _waveform() -> dict[str, Tensor]:
    return {"input_values": torch.randn(BATCH, 8000)}


def _spectrogram() -> dict[str, Tensor]:
    return {"input_values": torch.randn(BATCH, 256, 128)}


def _mel() -> dict[str, Tensor]:
    return {"input_features": torch.randn(BATCH, 80, 3000), "decoder_input_ids": tokens()[:, :16]}


def _series() -> dict[str, Tensor]:
    return {"past_values": torch.randn(BATCH, 512, 7)}


def _text_encoder(name: str, inputs: Inputs = _masked_tokens, **options: Any) -> Architecture:
    return _architecture(name, inputs, "nlp", **{**ENCODER, **options})


def _text_decoder(name: str, inputs: Inputs = _tokens, **options: Any) -> Architecture:
    return _architecture(name, inputs, "nlp", **{**DECODER, **options})


def _vision(name: str, size: int = 224, inputs: Inputs | None = None, **options: Any) -> Architecture:
    return _architecture(name, inputs or _image(size), "computer_vision", **options)


def _audio(name: str, inputs: Inputs = _waveform, **options: Any) -> Architecture:
    return _architecture(name, inputs, "audio", **{**LAYERS, **options})


TEXT = (
    _text_encoder("BertModel"),
    _text_encoder("RobertaModel"),
    _text_encoder("XLMRobertaModel"),
    _text_encoder("CamembertModel"),
    _text_encoder("MPNetModel"),
    _text_encoder("AlbertModel"),
    _text_encoder("ElectraModel"),
    _text_encoder("DistilBertModel", n_layers=2),
    _text_encoder("DebertaModel", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    _text_encoder("DebertaV2Model", hidden_size=768, num_attention_heads=12, intermediate_size=3072, relative_attention=True),
    _text_encoder("ConvBertModel"),
    _text_encoder("SqueezeBertModel"),
    _text_encoder("MobileBertModel"),
    _text_encoder("NystromformerModel"),
    _text_encoder("YosoModel"),
    _text_encoder("RoFormerModel"),
    _text_encoder("ErnieModel"),
    _text_encoder("SplinterModel"),
    _text_encoder("EsmModel", pad_token_id=1, position_embedding_type="rotary"),
    _text_encoder("ModernBertModel", **SPECIAL_TOKENS, cls_token_id=1, sep_token_id=2),
    _text_encoder("FNetModel", _tokens),
    _text_encoder("CanineModel", _characters),
    _text_encoder("IBertModel"),
    _text_encoder("XLNetModel", n_layer=2),
    _architecture("FunnelModel", _masked_tokens, "nlp", block_sizes=[1, 1], vocab_size=VOCABULARY),
    _text_encoder("BigBirdModel", attention_type="original_full"),
    _text_encoder("LongformerModel", attention_window=16),
    _text_encoder("ReformerModel"),
    _text_encoder("LayoutLMModel", _boxed_tokens),
    _text_encoder("LiltModel", _boxed_tokens),
    _text_encoder("CLIPTextModel", _tokens, eos_token_id=2),
    _text_encoder("T5EncoderModel", num_layers=2),
    _text_decoder("T5ForConditionalGeneration", _two_texts, num_layers=2, num_decoder_layers=2),
    _text_decoder("BartModel", _two_texts, **LAYERS_OF_BOTH, decoder_start_token_id=2),
    _text_decoder("MBartModel", _two_texts, **LAYERS_OF_BOTH),
    _text_decoder("PegasusModel", _two_texts, **LAYERS_OF_BOTH),
    _text_decoder("MarianModel", _two_texts, **LAYERS_OF_BOTH, decoder_start_token_id=0),
    _architecture("ProphetNetModel", _two_texts, "nlp", num_encoder_layers=2, num_decoder_layers=2, vocab_size=VOCABULARY, use_cache=False),
    _text_decoder("GPT2LMHeadModel", n_layer=2),
    _text_decoder("OpenAIGPTModel", n_layer=2),
    _text_decoder("GPTNeoModel", num_layers=2, attention_types=[[["global", "local"], 1]]),
    _text_decoder("GPTNeoXModel", hidden_size=1024, intermediate_size=4096, num_attention_heads=16),
    _text_decoder("GPTJModel", n_layer=2, n_embd=1024, n_head=16),
    _text_decoder("CodeGenModel", n_layer=2, n_embd=1024, n_head=16),
    _text_decoder("GPTBigCodeModel", n_layer=2),
    _text_decoder("OPTModel"),
    _text_decoder("XGLMModel", num_layers=2),
    _text_decoder("BloomModel", n_layer=2, hidden_size=1024, n_head=16),
    _text_decoder("MptModel", n_layers=2, d_model=1024),
    _text_decoder("FalconModel", hidden_size=1024, num_attention_heads=16),
    _text_decoder("LlamaForCausalLM", hidden_size=1024, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=4),
    _text_decoder("MistralModel", hidden_size=1024, intermediate_size=3584, num_attention_heads=16, num_key_value_heads=4),
    _text_decoder(
        "MixtralModel",
        hidden_size=512,
        intermediate_size=1024,
        num_attention_heads=8,
        num_key_value_heads=2,
        experts_implementation="batched_mm",
    ),
    _text_decoder("Qwen2Model", hidden_size=896, intermediate_size=4864, num_attention_heads=14, num_key_value_heads=2),
    _text_decoder("Qwen3Model", hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8),
    _text_decoder("GemmaModel", hidden_size=1024, intermediate_size=4096, num_attention_heads=4, num_key_value_heads=1),
    _text_decoder("Gemma2Model", hidden_size=1024, intermediate_size=4096, num_attention_heads=4, num_key_value_heads=2),
    _text_decoder("Gemma3TextModel", hidden_size=640, intermediate_size=2048, num_attention_heads=4, num_key_value_heads=1),
    _text_decoder("PhiModel", hidden_size=1024, intermediate_size=4096, num_attention_heads=16),
    _text_decoder("Phi3Model", hidden_size=1024, intermediate_size=4096, num_attention_heads=16),
    _text_decoder("StableLmModel", hidden_size=1024, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=16),
    _text_decoder("Starcoder2Model", hidden_size=1024, intermediate_size=4096, num_attention_heads=16),
    _text_decoder("OlmoModel", hidden_size=1024, intermediate_size=2816, num_attention_heads=16),
    _text_decoder("Olmo2Model", hidden_size=1024, intermediate_size=2816, num_attention_heads=16),
    _text_decoder("CohereModel", hidden_size=1024, intermediate_size=2816, num_attention_heads=16),
    _text_decoder("GraniteModel", hidden_size=1024, intermediate_size=2816, num_attention_heads=16),
    _text_decoder("NemotronModel", hidden_size=1024, intermediate_size=4096, num_attention_heads=16, num_key_value_heads=4),
    _text_decoder("SmolLM3Model", hidden_size=1024, intermediate_size=2816, num_attention_heads=16, num_key_value_heads=4),
    _text_decoder("MambaModel", hidden_size=256),
    _text_decoder("Mamba2Model", hidden_size=256, num_heads=8, head_dim=64, n_groups=1, state_size=32, chunk_size=16),
    _text_decoder("RwkvModel", hidden_size=512),
)

VISION = (
    _vision("ViTModel", **LAYERS),
    _vision("DeiTModel", **LAYERS),
    _vision("BeitModel", **LAYERS),
    _vision("Dinov2Model", **LAYERS, image_size=224),
    _vision("ViTMAEForPreTraining", inputs=_image_and_noise, **LAYERS, decoder_num_hidden_layers=1),
    _vision("CLIPVisionModel", **LAYERS),
    _vision("SiglipVisionModel", **LAYERS),
    _vision("BlipVisionModel", **LAYERS, image_size=224),
    _vision("SegformerForSemanticSegmentation", 128, depths=[1, 1, 1, 1]),
    _vision("SwinModel", depths=[1, 1, 2, 1]),
    _vision("Swinv2Model", depths=[1, 1, 2, 1]),
    _vision("ConvNextModel", depths=[1, 1, 2, 1]),
    _vision("ConvNextV2Model", depths=[1, 1, 2, 1]),
    _vision("ResNetModel", 160),
    _vision("RegNetModel", 160, depths=[1, 1, 2, 1]),
    _vision("MobileViTModel", 192),
    _vision("MobileNetV2Model"),
    _vision("EfficientNetModel", 160, width_coefficient=1.0, depth_coefficient=1.0, hidden_dim=1280),
    _vision("LevitModel"),
    _vision("PoolFormerModel", depths=[1, 1, 2, 1]),
    _vision("CvtModel"),
    _vision("PvtModel", depths=[1, 1, 1, 1]),
    _vision("HieraModel", depths=[1, 1, 2, 1]),
    _vision("FocalNetModel", depths=[1, 1, 2, 1]),
    _vision(
        "SamVisionModel",
        256,
        num_hidden_layers=2,
        hidden_size=96,
        num_attention_heads=4,
        output_channels=32,
        global_attn_indexes=[1],
        image_size=256,
    ),
    _vision("DPTForDepthEstimation", num_hidden_layers=4, backbone_out_indices=[0, 1, 2, 3], image_size=224),
    _vision("TimesformerModel", inputs=_video(8, 112), **LAYERS, image_size=112),
    _vision("VideoMAEModel", inputs=_video(8, 112), **LAYERS, image_size=112, num_frames=8),
    _vision("VivitModel", inputs=_video(8, 112), **LAYERS, image_size=112, num_frames=8),
)

AUDIO = (
    _audio("Wav2Vec2Model"),
    _audio("HubertModel"),
    _audio("WavLMModel"),
    _audio("SEWModel"),
    _audio("UniSpeechModel"),
    _audio("Data2VecAudioModel"),
    _audio("ASTModel", _spectrogram, max_length=256),
    _audio("WhisperModel", _mel, **LAYERS_OF_BOTH, **SPECIAL_TOKENS, vocab_size=VOCABULARY, use_cache=False, decoder_start_token_id=1),
)

SEVERAL_KINDS = (
    _architecture(
        "CLIPModel",
        _image_and_text(224),
        "multimodal",
        text_config={**ENCODER, "eos_token_id": 2},
        vision_config={**LAYERS},
    ),
    _architecture("ViltModel", _image_and_text(224), "multimodal", **ENCODER, image_size=224),
    _architecture("PatchTSTModel", _series, "other", num_input_channels=7, context_length=512, patch_length=16, patch_stride=16),
)

TRANSFORMERS = (*TEXT, *VISION, *AUDIO, *SEVERAL_KINDS)
