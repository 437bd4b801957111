"""Models of timm and transformers, made from their names or configurations. Nothing is downloaded."""

import importlib
import warnings

import torch

from pytorch_models import First


class Missing(Exception):
    """A package that is not installed."""


def package(name):
    """timm or transformers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name} cannot be imported ({error}); run: pip install {name}") from error


class Images:
    """A model of timm, for images of 224x224."""

    source = "timm"

    def __init__(self, name, size=224):
        self.name, self.size = name, size

    def make(self):
        """The model, and a function that draws inputs of a batch."""
        model = package("timm").create_model(self.name)
        return model, lambda batch: [torch.randn(batch, 3, self.size, self.size)]


class Tokens:
    """A model of transformers, for sequences of 128 tokens."""

    source = "transformers"

    def __init__(self, family, kind="Model", length=128, **config):
        self.family, self.kind, self.length, self.config = family, kind, length, config

    def make(self):
        """The model, and a function that draws inputs of a batch."""
        model, config = self.model()
        return First(model), lambda batch: [torch.randint(3, config.vocab_size, (batch, self.length))]

    def model(self):
        """The model and its configuration: dropout is off, so that each training step computes the same."""
        transformers = package("transformers")
        kind = getattr(transformers, f"{self.family}Config")
        defaults = kind().to_dict()
        off = {name: 0.0 for name, value in defaults.items() if "drop" in name and isinstance(value, float)}
        cache = {"use_cache": False} if "use_cache" in defaults else {}
        config = kind(**{**off, **cache, **self.config})
        return getattr(transformers, f"{self.family}{self.kind}")(config), config


class Encoder(Tokens):
    """The encoder of a model of transformers, for inputs of a shape."""

    def __init__(self, family, shape, **config):
        super().__init__(family, **config)
        self.shape = shape

    def make(self):
        """The model, and a function that draws inputs of a batch."""
        return First(self.model()[0].get_encoder()), lambda batch: [torch.randn(batch, *self.shape)]


#: Of Llama and Qwen2, the width of small models.
LLAMA = {"hidden_size": 2048, "intermediate_size": 5632, "num_attention_heads": 32, "num_key_value_heads": 4}
QWEN = {"hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14, "num_key_value_heads": 2}
WHISPER = {"d_model": 512, "encoder_layers": 6, "encoder_ffn_dim": 2048}
WHISPER |= {"encoder_attention_heads": 8, "decoder_attention_heads": 8}

#: The models of `benchmark-pytorch`.
BENCHMARK = {
    "resnet50": Images("resnet50"),
    "bert-base": Tokens("Bert"),
    "vit_base": Images("vit_base_patch16_224"),
    "gpt2": Tokens("GPT2", "LMHeadModel"),
    "convnext_tiny": Images("convnext_tiny"),
    "llama, 8 layers": Tokens("Llama", "ForCausalLM", num_hidden_layers=8, **LLAMA),
    "efficientnet_b0": Images("efficientnet_b0"),
    "t5-small encoder": Tokens("T5", "EncoderModel"),
    "swin_tiny": Images("swin_tiny_patch4_window7_224"),
    "whisper-base encoder": Encoder("Whisper", (80, 3000), decoder_layers=1, **WHISPER),
    "mobilenetv3_large": Images("mobilenetv3_large_100"),
    "qwen2, 8 layers": Tokens("Qwen2", "ForCausalLM", num_hidden_layers=8, **QWEN),
    "regnety_016": Images("regnety_016"),
    "electra-small": Tokens("Electra"),
    "beit_base": Images("beit_base_patch16_224"),
    "mixer_b16": Images("mixer_b16_224"),
}

#: Small transformers for `check-models`: wide enough that linear layers stay products of matrices.
SMALL = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 1000, "pad_token_id": 0}
TINY_T5 = {"d_model": 128, "d_ff": 256, "d_kv": 32, "num_layers": 3, "num_heads": 4, "num_decoder_layers": 1}
TINY_WHISPER = {"d_model": 128, "encoder_layers": 3, "encoder_ffn_dim": 256}
TINY_WHISPER |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4}

#: The models of `check-models`.
CHECKED = {
    **{
        name: Images(name)
        for name in (
            "resnet18 mobilenetv3_small_050 efficientnet_b0 regnety_002 convnext_atto vit_tiny_patch16_224 "
            "deit_tiny_distilled_patch16_224 swin_tiny_patch4_window7_224 mixer_s32_224 densenet121 ghostnet_050 "
            "repvgg_a0 mobilevit_xxs poolformer_s12 edgenext_xx_small coat_lite_tiny efficientformer_l1 levit_128s "
            "xcit_nano_12_p16_224 fastvit_t8 gmlp_s16_224 beit_base_patch16_224"
        ).split()
    },
    "bert": Tokens("Bert", **SMALL),
    "roberta": Tokens("Roberta", **SMALL),
    "electra": Tokens("Electra", **SMALL),
    "albert": Tokens("Albert", **SMALL),
    "distilbert": Tokens("DistilBert", dim=128, hidden_dim=256, n_layers=3, n_heads=4),
    "mpnet": Tokens("MPNet", **SMALL),
    "deberta-v2": Tokens("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"], **SMALL),
    "gpt2": Tokens("GPT2", "LMHeadModel", n_embd=128, n_layer=3, n_head=4, vocab_size=1000),
    "gpt-neox": Tokens("GPTNeoX", "ForCausalLM", **SMALL),
    "opt": Tokens("OPT", ffn_dim=256, word_embed_proj_dim=128, **SMALL),
    "bloom": Tokens("Bloom", hidden_size=128, n_layer=3, n_head=4, vocab_size=1000),
    "llama": Tokens("Llama", "ForCausalLM", **GROUPED),
    "mistral": Tokens("Mistral", "ForCausalLM", **GROUPED),
    "qwen2": Tokens("Qwen2", "ForCausalLM", **GROUPED),
    "qwen3": Tokens("Qwen3", "ForCausalLM", **GROUPED),
    "gemma": Tokens("Gemma", "ForCausalLM", **GROUPED),
    "phi": Tokens("Phi", "ForCausalLM", vocab_size=1000, **SMALL),
    "mamba": Tokens("Mamba", hidden_size=128, num_hidden_layers=2, vocab_size=1000, length=32),
    "t5 encoder": Tokens("T5", "EncoderModel", **TINY_T5),
    "whisper encoder": Encoder("Whisper", (80, 3000), decoder_layers=1, **TINY_WHISPER),
}
