"""How far from the optimum an answer is: lower bounds, the document that states one, and who checks it."""
