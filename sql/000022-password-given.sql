-- When the password of its person was given last in a session: what outlasts a session of the command line asks for it again. A
-- device that is let in takes it over from the session that decided. None: before this was kept.
alter table session add column password_at timestamptz;
alter table device_grant add column password_at timestamptz;
