"""Series: tournaments scored together."""
