"""Ground floor: the words for emotions and how sure one is of them."""
