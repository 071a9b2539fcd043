-- Whether a learning was added by a job that had read text of people outside the workspace.
alter table learning add column untrusted boolean not null default false;
