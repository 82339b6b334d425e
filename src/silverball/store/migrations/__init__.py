"""How the schema came to be, step by step. Alembic runs these; `store/database/migrate.py` runs Alembic."""
