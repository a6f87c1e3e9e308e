"""The paper's figure: conditional-gradient methods on MovieLens, objective against eigenvectors."""
