-- Servers ask for the migrations of the database while they run, to say whether they are ready.
grant select (name) on migration to tendril_system;
