"""What is merged first: the rules that turn modes, saddles and components into an order of merges."""
