-- Since when a job has waited for billing to be in order; null if it does not.
alter table agent_job add column held_since timestamptz;
