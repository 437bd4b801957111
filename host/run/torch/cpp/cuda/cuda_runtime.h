// See cuda_runtime_api.h beside this.
#pragma once

#include "cuda_runtime_api.h"
