"""How strong agents are: matches, round robins, ratings, pictures of results."""
