-- Calls of the agent's tools without a model. Each is a job of kind action; who calls is in the approval, so that an equal call joins it.
alter table agent_approval add column direct_by text;
create unique index agent_approval_direct on agent_approval (tenant_id, direct_by, tool_name, arguments_hash)
  where status = 'pending' and direct_by is not null;
