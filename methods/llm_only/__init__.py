"""What the model answers without any graph: zero-shot, few-shot, chain of thought, self-consistency.

The DoG paper compares with these four and gives neither prompts nor shots nor samples; its one generation setting
(temperature 0.5, 1,024 tokens; section 5.1.3) is the default here. The prompts are this project's.
"""
