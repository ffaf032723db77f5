"""Rules by which predictions are matched with gold answers, one file a rule.

A protocol named after a published system repeats what its scorer computes, with its errors. Where the original stops
(a division by zero) or leaves a question out, the score is 0 and the question counts.
"""
