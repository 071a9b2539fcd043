-- The record that a call of the agent is about, by which the calls are found that an act of somebody
-- else makes needless, and who decided, or made the call needless: a person is not the only one who
-- can. A call that was overtaken is moot.
alter table agent_approval
  add column subject_id uuid,
  -- as {kind, id}
  add column decider jsonb,
  drop constraint agent_approval_decided_how_check,
  add constraint agent_approval_decided_how_check
    check (decided_how in ('person', 'expiry', 'cancel', 'stale', 'moot'));
create index agent_approval_about on agent_approval (tenant_id, subject_id)
  where status = 'pending';

alter table agent_approval no force row level security;
update agent_approval set subject_id = coalesce((subject->'records'->0->>'id')::uuid,
    case when arguments->>'id' ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
      then (arguments->>'id')::uuid end)
  where status = 'pending';
update agent_approval set decider = jsonb_build_object('kind', 'person', 'id', decided_by)
  where decided_by is not null;
alter table agent_approval force row level security;
