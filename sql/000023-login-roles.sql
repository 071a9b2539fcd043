-- The roles that the server's pools log in as are named by this, so that no two databases of a cluster share them: store/logins.ts.
alter table deployment add column id uuid not null default gen_random_uuid();
