"""TRL's GRPOTrainer, as the package's README has it, trains a tiny model for a step: it has its environments, parses
its calls and computes its rewards. Only what the model says is scripted: random weights call no tool.
"""

import os
import tempfile

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from passhost import Environment
from tiny import Model, holds, readme, source, tokenizer


class Scripted(Qwen2ForCausalLM):
    """Weights that are trained, and answers that are read from a script."""

    def generate(self, input_ids, attention_mask, generation_config=None, **_):
        ends = []
        for ids, mask in zip(input_ids, attention_mask, strict=True):
            reply = self.script.says(self.words.decode(ids[mask.bool()]))
            ends.append(self.words(f"{reply}<|im_end|>")["input_ids"])
        longest = max(map(len, ends))
        padded = [end + [self.words.pad_token_id] * (longest - len(end)) for end in ends]
        return torch.cat([input_ids, torch.tensor(padded, device=input_ids.device)], dim=1)


def main():
    sample = os.environ["PASSHOST_SAMPLE"]
    with Environment() as environment:
        task = environment.reset(sample).text
    words = tokenizer(task + source("right") + source("wrong"))
    config = Qwen2Config(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=1 << 17,
        bos_token_id=None,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )
    torch.manual_seed(0)
    model = Scripted(config)
    model.script, model.words = Model(), words
    before = [weight.detach().clone() for weight in model.parameters()]
    with tempfile.TemporaryDirectory() as place:
        small = {
            "output_dir": place,
            "max_steps": 1,
            "num_generations": 2,
            "per_device_train_batch_size": 2,
            "learning_rate": 1e-3,
            "logging_steps": 1,
            "report_to": [],
            "use_cpu": True,
            "bf16": False,
            "disable_tqdm": True,
        }
        replaced = {
            '"Qwen/Qwen3-8B"': "model, processing_class=words",
            'output_dir="out"': "**small",
            "rms-norm": os.environ["PASSHOST_SAMPLE"],
        }
        names = {"model": model, "words": words, "small": small}
        exec(readme("Train with TRL", **replaced), names)
    trainer = names["trainer"]
    log = trainer.state.log_history[0]
    rewards = [environment.get_reward() for environment in trainer.environments]
    holds(rewards[0] > 0.1 and rewards[1] < rewards[0], "the right pass is worth more than the wrong one", rewards)
    mean = log["rewards/PassEnvironment/mean"]
    holds(abs(mean - sum(rewards) / 2) < 1e-6, "TRL was paid what the environments paid", log, rewards)
    holds(log["tools/call_frequency"] == 4.5 and log["tools/failure_frequency"] == 0, "nine calls, none failed", log)
    changed = [bool((one != other).any()) for one, other in zip(before, model.parameters(), strict=True)]
    holds(all(changed) and log["grad_norm"] > 0, "the weights were trained", log)
    print(f"rewards {rewards[0]:.3f} and {rewards[1]:.3f}, gradient {log['grad_norm']:.2e}")


main()
