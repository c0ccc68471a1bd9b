"""How many examples hypothesis tries where each takes long: a fifth of what the profile says."""

from hypothesis import settings

few_examples = settings(max_examples=settings().max_examples // 5, deadline=None)
