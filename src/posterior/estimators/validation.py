"""How well a model does on rows it has not seen, without fitting it again and again."""
