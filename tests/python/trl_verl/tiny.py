"""A tokenizer that is made here, and a model of some thousand weights whose answers are scripted."""

import json
import os
import pathlib

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from trl.chat_template_utils import qwen2_5_chat_template

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def source(name):
    return (pathlib.Path(os.environ["PASSHOST_PASSES"]) / f"{name}.rs").read_text()


def readme(heading, **replaced):
    """The Python under a heading of the package's README, with other words in it."""
    text = (pathlib.Path(__file__).parents[3] / "python/README.md").read_text()
    code = text.split(f"## {heading}\n")[1].split("```python\n")[1].split("\n```")[0]
    for number, (old, new) in enumerate(replaced.items()):
        holds(old in code, "the README has", number, old)
        code = code.replace(old, new)
    return code


def holds(condition, what, *seen):
    if not condition:
        raise SystemExit(f"{what}: {seen}")


def tokenizer(text):
    """One with Qwen's template, and short for such texts."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([text], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = qwen2_5_chat_template
    return fast


def call(tool, **arguments):
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"


def last_answer(conversation):
    """What a tool answered last, in a conversation by Qwen's template; nothing where none was called."""
    answers = conversation.split("<tool_response>\n")[1:]
    return answers[-1].split("\n</tool_response>")[0] if answers else ""


#: What is said after the first pass, each after an answer that holds what stands before it.
SCRIPTS = {
    "broken": [
        ("written", call("build")),
        ("`remove_knots`", ("right",)),
        ("written", call("check")),
        ("every graph may run", call("eval")),
        ("verdict: RIGHT", call("submit")),
        ("verdict: RIGHT", "It is right."),
    ],
    "wrong": [("written", call("eval")), ("verdict: WRONG", call("submit")), ("verdict: WRONG", "It is wrong.")],
    "right": [("written", call("eval")), ("verdict: RIGHT", "It is right, and not submitted.")],
}


class Model:
    """What a scripted model says next. Rollouts that are begun alike differ by their number."""

    def __init__(self):
        self.begun = 0

    def says(self, conversation):
        answer, turns = last_answer(conversation), conversation.count("<|im_start|>assistant\n") - 1
        first = conversation.rsplit("<|im_start|>assistant\n", turns + 1)[1] if turns else ""
        if turns == 0:
            holds(
                "graph(%" in conversation and '"name": "write_pass"' in conversation,
                "task and tools",
                conversation[-3000:],
            )
            self.begun += 1
            return call("write_pass", source=source(["broken", "wrong", "right"][(self.begun - 1) % 3]))
        wrote = next(name for name in ("broken", "wrong", "right") if json.dumps(source(name))[:-1] in first)
        expected, reply = SCRIPTS[wrote][turns - 1]
        reply = reply if isinstance(reply, str) else call("write_pass", source=source(*reply))
        holds(expected in answer, f"`{expected}` in answer {turns}", answer)
        return reply
