-- What addresses an account becomes signals too, without a target.
alter table signal alter column target_id drop not null;

-- What of its network cannot be read, for people.
alter table connection add column reading_reason text;
