"""Architectures of torchvision: classification, segmentation, video, optical flow."""

from __future__ import annotations

from typing import Any

import torch

from ..provenance import Provenance
from .catalogue import Architecture

BATCH = 2


def _model(name: str, shape: tuple[int, ...], argument: str, options: dict[str, Any]) -> tuple[torch.nn.Module, dict[str, Any]]:
    import torchvision

    return torchvision.models.get_model(name, weights=None, **options).eval(), {argument: torch.randn(shape)}


def _architecture(name: str, *shape: int, argument: str = "x", **options: Any) -> Architecture:
    provenance = Provenance(name, "torchvision", "computer_vision", options)
    return Architecture(provenance, lambda: _model(name, (BATCH, 3, *shape), argument, options))


TORCHVISION = (
    _architecture("alexnet", 224, 224),
    _architecture("vgg11", 96, 96),
    _architecture("resnet34", 160, 160),
    _architecture("resnext50_32x4d", 160, 160),
    _architecture("wide_resnet50_2", 96, 96),
    _architecture("squeezenet1_1", 224, 224),
    _architecture("googlenet", 160, 160, init_weights=True, aux_logits=False),
    _architecture("densenet121", 96, 96),
    _architecture("mnasnet0_5", 224, 224),
    _architecture("mobilenet_v2", 224, 224),
    _architecture("mobilenet_v3_large", 160, 160),
    _architecture("shufflenet_v2_x0_5", 224, 224),
    _architecture("efficientnet_b0", 160, 160),
    _architecture("efficientnet_v2_s", 128, 128),
    _architecture("regnet_y_400mf", 224, 224),
    _architecture("convnext_tiny", 160, 160),
    _architecture("swin_t", 224, 224),
    _architecture("swin_v2_t", 256, 256),
    _architecture("vit_b_32", 224, 224),
    _architecture("maxvit_t", 224, 224),
    _architecture("fcn_resnet50", 128, 128, weights_backbone=None),
    _architecture("deeplabv3_mobilenet_v3_large", 160, 160, weights_backbone=None),
    _architecture("deeplabv3_resnet50", 96, 96, weights_backbone=None),
    _architecture("lraspp_mobilenet_v3_large", 224, 224, weights_backbone=None, argument="input"),
    _architecture("r3d_18", 8, 56, 56),
    _architecture("mc3_18", 8, 56, 56),
    _architecture("r2plus1d_18", 8, 56, 56),
    _architecture("s3d", 16, 224, 224),
    _architecture("mvit_v1_b", 16, 224, 224),
    _architecture("swin3d_t", 8, 112, 112),
)
