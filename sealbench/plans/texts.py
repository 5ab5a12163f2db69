"""The texts that plan templates are put together from: commented TOML, one block each."""

from __future__ import annotations

HEAD = """\
# A plan for battery {battery}. Read every line, change what is not what you mean, then freeze it:
#     seal preregister {battery} --plan {plan} --from {plan}.toml
# After that it cannot be changed, only amended in the open.
{about}
battery = "{battery}"

# Which endpoints are called (seal run --endpoint takes the same names).
endpoints = {endpoints}

# Most tokens a response may use. The last should be high enough that nothing is cut.
caps = {caps}

# How often each item is asked at each cap. Repeats are not independent: the unit stays the instance.
repeats = 1
wordings = {wordings}

# When data collection ends, and which responses would be left out (none, if the list is empty).
stopping_rule = "every planned call once; no look at results before all are done"
exclusions = []

# Level of the family of registered tests, and how it is kept (holm or none).
alpha = "0.05"
correction = "holm"

# Who has seen the items, and who pays.
access = ["the author"]
funding = "none"

# When the secret key will be published, so that everybody can check everything.
[reveal]
condition = "when the report is published"
deadline = "{deadline}"

# Hypotheses are data. direction "greater" says that class1 is cut more often, or costs more,
# than class0. Measures: censored, lost (cut without a final answer), charged_tokens,
# reasoning_tokens, accuracy, error. A hypothesis without an endpoint is tested on every endpoint.
"""

HYPOTHESIS = """{comment}
[[hypotheses]]
id = "{id}"
measure = "{measure}"
where = {where}
cap = {cap}
class1 = "{class1}"
class0 = "{class0}"
direction = "{direction}"
"""

FALSIFIES = """\
# If this one is supported, those are falsified whatever their own numbers.
falsifies = {falsifies}
"""

VOID = """
# {comment}
[[void_conditions]]
id = "{id}"
condition = "nothing_censored"
where = {where}
cap = {cap}
voids = {voids}
"""

ABOUT_PAPER0 = """
# Question: does a token cap remove one class of answers? A prime needs the whole search, a composite with
# a small factor does not; in subset-sum it is the answer "no" that does, so that there the word is
# inverted while the search is the same. Every test is asked in every wording: a result that follows the
# word and not the search does not survive.
# The falsifier: semiprimes are composites with a search as long as a prime's. If primes cost more than
# these as well, cost follows the answer and not the search, and the primality hypotheses are falsified.
# If nothing is cut in subset-sum, that control was too easy and is void. Rebuild it harder, in the open,
# and preregister again; reports then show both:
#     seal create --for paper0 --name {battery}-2 --per-class 8 --supersedes {battery} -p subset_sum.length=24
"""

ABOUT_REASONING = """
# Question: is it reasoning that makes the cap remove one class? The endpoints come in pairs, the same
# model with reasoning on and then off; configure them as two names in sealbench.toml, for example
#     [endpoints.model-on.extra]  reasoning_effort = "high"
#     [endpoints.model-off.extra] reasoning_effort = "none"
"""

ABOUT_IMPORT = """
# Your own items: nobody but you knows which class needs the longer answer, so every test is two-sided.
# If you expect a direction, write it down now ("greater": class1 costs more): it makes the test sharper.
"""
