-- Jobs that do a part of another one's, and jobs of one shot that give JSON.

alter table agent_job
  -- the step of its parent that waits for it
  add column parent_step_id uuid,
  -- calls of the model that it may make itself; null: those that are left to its tree
  add column most_steps integer check (most_steps >= 1),
  -- of a task: its type, input and most attempts
  add column task jsonb,
  -- what a job without a conversation gave
  add column output jsonb;
create index on agent_job (tenant_id, root_id) where parent_id is not null;
create index on agent_job (tenant_id, id) where kind = 'task';
