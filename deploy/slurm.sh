#!/bin/bash
# Workers on Slurm, one a GPU: sbatch deploy/slurm.sh. Not tried where this was written, for want of a cluster.
# ~/passhost has the samples, database.txt with the address of the queue, and canary.json; each node has its key.
#SBATCH --job-name=passhost-worker
#SBATCH --array=0-7
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --requeue
# Earlier than the end by more than --grace, and to the worker, which takes the place of this shell.
#SBATCH --signal=B:TERM@60
set -e
cd ~/passhost
exec passhost worker samples/reference.txt --queue database.txt --device cuda:0 --host "$SLURMD_NODENAME" --sign "$HOME/.config/passhost/$SLURMD_NODENAME.key" --canary canary.json --grace 45s
