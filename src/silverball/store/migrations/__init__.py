"""How the schema came to be, step by step. Alembic runs these; `store/migrate.py` runs Alembic."""
