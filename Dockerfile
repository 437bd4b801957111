# passhost for graders: `docker build --tag passhost .` for NVIDIA GPUs, with `--build-arg DEVICE=cpu` for a CPU alone.
# Nothing of a plugin runs as root, needs a privileged container or reaches the network:
#   docker run --gpus all --read-only --network none --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp \
#       --tmpfs /home/passhost/.cache:uid=1000 -v $PWD:/work:ro passhost eval plugin.wasm sample
#
# scripts/image builds the CPU's image without a daemon or a registry, on Debian 12 and 13, and evaluates in it under these
# restrictions. Not tried: the GPUs' image, Ubuntu, rustup's own script, Docker's seccomp filter. The programs were run on an
# H200 with the same libtorch and NVRTC 13.0.

# Debian 12 or Ubuntu 24.04, or newer.
ARG BASE=docker.io/library/debian:trixie-slim

# `--build-context prebuilt=TARGET` takes the programs that `make build` left in TARGET.
FROM scratch AS prebuilt

FROM ${BASE} AS build
# Certificates of a proxy, where there is one.
ARG PIP_CERT
ARG SSL_CERT_FILE
ARG CARGO_HTTP_CAINFO
# A distribution without its package gets rustup from the Rust project.
RUN --mount=type=bind,from=prebuilt,target=/prebuilt set -e; \
    install() { apt-get install -y --no-install-recommends "$@"; }; \
    apt-get update; install binutils ca-certificates python3 python3-pip; \
    [ -e /prebuilt/debug ] || { install g++ make curl; \
        install rustup || curl --proto =https -sSf https://sh.rustup.rs | sh -s -- -y --default-toolchain none; }; \
    rm -rf /var/lib/apt/lists/*

# The wheel brings cuDNN, cuBLAS and NVRTC as packages of their own. Emitted kernels include no header. libtorch_cpu links two
# libraries of CUDA, without a GPU too; what else there is for one is left out of a CPU's image.
ARG DEVICE=cuda
RUN set -e; install() { python3 -m pip install --no-cache-dir --no-compile --target /opt/torch torch==2.11.0 "$@"; }; \
    if [ "$DEVICE" = cuda ]; then install; else \
        install --no-deps nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85; \
        cd /opt/torch/torch/lib; rm -r *cuda* *nvrtc* *nvshmem* *python* libshm*; \
        cd /opt/torch/nvidia/cu13; rm -r include; find lib -type f ! -name 'libcudart.so*' ! -name 'libcupti.so*' -delete; \
    fi; mkdir /opt/torch/wheels; mv /opt/torch/torch-*.dist-info /opt/torch/nvidia_*.dist-info /opt/torch/wheels/

WORKDIR /src
COPY . .
ARG CARGO_BUILD_JOBS
ENV LIBTORCH=/opt/torch/torch CARGO_TARGET_DIR=/target CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 PATH=$PATH:/root/.cargo/bin
RUN --mount=type=bind,from=prebuilt,target=/prebuilt set -e; built=/prebuilt; \
    [ -e $built/debug ] || { make programs plugins; built=/target; }; \
    mkdir -p /install/bin /install/share/passhost/plugins; \
    for program in passhost passhost-guest passhost-reader passhost-device passhost-compiler passhost-builder; do \
        strip -o /install/bin/$program $built/debug/$program; done; \
    for plugin in noop gate autofuse fuse_pointwise fuse_norms masked_mean_pool; do \
        cp $built/wasm32-wasip2/plugin/$plugin.wasm /install/share/passhost/plugins/; done; \
    cp -r samples /install/share/passhost/; rm -rf /target /root/.cargo /root/.rustup

FROM ${BASE}
COPY --from=build /opt/torch/torch/lib /opt/torch/torch/lib
COPY --from=build /opt/torch/nvidia /opt/torch/nvidia
# What the wheels are, for whoever lists or scans them.
COPY --from=build /opt/torch/wheels /opt/torch/wheels
COPY --from=build /install /usr/local
# The image's user of number 1000 goes: this one may do nothing but run.
RUN (userdel --remove ubuntu || true) && useradd --uid 1000 --create-home --shell /usr/sbin/nologin passhost \
    && mkdir /work && install -d -o passhost -g passhost /home/passhost/.cache
ENV LD_LIBRARY_PATH=/opt/torch/torch/lib:/opt/torch/nvidia/cu13/lib \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER passhost
WORKDIR /work
ENTRYPOINT ["passhost"]
CMD ["doctor"]
