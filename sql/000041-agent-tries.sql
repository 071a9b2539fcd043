-- Tries of a step that came to nothing, before the one that the step shows: when each began and ended, and why.
alter table agent_step add column tries jsonb not null default '[]';
