"""Real architectures with random weights, extracted whole: what the package is tried on.

`python -m passhost_extract.architectures --out FOLDER` writes the graph of each and a table of what happened. Needs timm, torchvision
and transformers; nothing is downloaded.
"""

from .catalogue import Architecture
from .timm_models import TIMM
from .torchvision_models import TORCHVISION
from .transformers_models import TRANSFORMERS

ARCHITECTURES = (*TIMM, *TORCHVISION, *TRANSFORMERS)

__all__ = ["ARCHITECTURES", "Architecture"]
