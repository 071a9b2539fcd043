-- Who wrote the goal of a schedule or a webhook rule that runs in the name of somebody else by now; null: whoever it runs for.
alter table agent_schedule add column goal_by jsonb;
alter table webhook_rule add column goal_by jsonb;
