"""Architectures of timm: convolutional networks, vision transformers, mixers and hybrids."""

from __future__ import annotations

from typing import Any

import torch

from ..provenance import Provenance
from .catalogue import Architecture

BATCH = 2


def _image_model(name: str, size: int, options: dict[str, Any]) -> tuple[torch.nn.Module, dict[str, Any]]:
    import timm

    return timm.create_model(name, **options).eval(), {"x": torch.randn(BATCH, 3, size, size)}


def _architecture(name: str, size: int, **options: Any) -> Architecture:
    return Architecture(Provenance(name, "timm", "computer_vision", options), lambda: _image_model(name, size, options))


# Depths are cut where a model repeats one block many times; widths are those of the published model.
TIMM = (
    _architecture("resnet18", 224),
    _architecture("resnet50", 160),
    _architecture("resnet26d", 160),
    _architecture("resnext26ts", 160),
    _architecture("seresnext26t_32x4d", 160, zero_init_last=False),
    _architecture("skresnet18", 160),
    _architecture("ecaresnet26t", 160),
    _architecture("res2net50_26w_4s", 160),
    _architecture("resnest14d", 160),
    _architecture("regnetx_002", 224),
    _architecture("regnety_004", 224),
    _architecture("densenet121", 160),
    _architecture("dpn68b", 160),
    _architecture("dla34", 160),
    _architecture("hrnet_w18_small", 160),
    _architecture("vgg11_bn", 96),
    _architecture("inception_v3", 160),
    _architecture("inception_resnet_v2", 160),
    _architecture("xception41", 160),
    _architecture("mobilenetv2_100", 224),
    _architecture("mobilenetv3_small_100", 224),
    _architecture("mobilenetv4_conv_small", 224),
    _architecture("efficientnet_b0", 224),
    _architecture("tf_efficientnetv2_b0", 192),
    _architecture("tinynet_e", 106),
    _architecture("ghostnet_100", 224),
    _architecture("fbnetc_100", 224),
    _architecture("mixnet_s", 160),
    _architecture("repvgg_a0", 160),
    _architecture("mobileone_s0", 160),
    _architecture("cspdarknet53", 128),
    _architecture("darknet17", 160),
    _architecture("nf_resnet26", 160),
    _architecture("dm_nfnet_f0", 128),
    _architecture("convnext_atto", 224),
    _architecture("convnextv2_atto", 224),
    _architecture("inception_next_tiny", 160, depths=(1, 1, 2, 1)),
    _architecture("poolformer_s12", 224),
    _architecture("caformer_s18", 160),
    _architecture("vit_tiny_patch16_224", 224, depth=4),
    _architecture("vit_small_patch14_dinov2", 140, img_size=140, depth=2),
    _architecture("vit_relpos_small_patch16_224", 224, depth=2),
    _architecture("deit_tiny_distilled_patch16_224", 224, depth=4),
    _architecture("deit3_small_patch16_224", 224, depth=2),
    _architecture("cait_xxs24_224", 224, depth=2),
    _architecture("beit_base_patch16_224", 224, depth=1),
    _architecture("eva02_tiny_patch14_224", 224, depth=2),
    _architecture("swin_tiny_patch4_window7_224", 224, depths=(2, 2, 2, 2)),
    _architecture("swinv2_tiny_window8_256", 256, depths=(2, 2, 2, 2)),
    _architecture("pvt_v2_b0", 224),
    _architecture("twins_pcpvt_small", 224, depths=(1, 1, 2, 1)),
    _architecture("xcit_nano_12_p16_224", 224, depth=2),
    _architecture("crossvit_tiny_240", 240),
    _architecture("coat_lite_tiny", 224),
    _architecture("levit_128s", 224),
    _architecture("tnt_s_patch16_224", 224, depth=2),
    _architecture("mobilevit_xxs", 192),
    _architecture("mobilevitv2_050", 192),
    _architecture("edgenext_xx_small", 192),
    _architecture("efficientformer_l1", 224),
    _architecture("efficientvit_b0", 224),
    _architecture("fastvit_t8", 192),
    _architecture("coatnet_nano_rw_224", 224),
    _architecture("maxvit_pico_rw_256", 256),
    _architecture("gcvit_xxtiny", 224),
    _architecture("hiera_tiny_224", 224),
    _architecture("nest_tiny", 224),
    _architecture("volo_d1_224", 224),
    _architecture("visformer_tiny", 224),
    _architecture("pit_ti_224", 224),
    _architecture("convit_tiny", 224, depth=2),
    _architecture("mixer_s16_224", 224),
    _architecture("gmlp_s16_224", 224),
    _architecture("resmlp_12_224", 224),
    _architecture("convmixer_768_32", 84),
    _architecture("focalnet_tiny_srf", 224),
    _architecture("lambda_resnet26t", 160),
    _architecture("halonet26t", 256),
    _architecture("botnet26t_256", 256),
    _architecture("repvit_m0_9", 160),
    _architecture("starnet_s1", 160),
    _architecture("rdnet_tiny", 160),
    _architecture("selecsls42b", 160),
    _architecture("vovnet39a", 160),
    _architecture("naflexvit_base_patch16_gap", 224, depth=1),
)
