-- Whether a job is a command that a person has typed, which no model answers: it waits for no job of its conversation that does.
alter table agent_job add column typed boolean not null default false;
