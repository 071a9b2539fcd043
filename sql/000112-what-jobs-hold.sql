-- What a job holds of its budgets beside what it is known to have used: reserved by calls of models that are on the wire, or that died.
alter table agent_job add column reserved_tokens integer not null default 0, add column reserved_cost integer not null default 0;

-- Policies bind the owner of the tables as well, unless they rest meanwhile.
alter table agent_job no force row level security;
alter table agent_step no force row level security;

update agent_job j set reserved_tokens = s.tokens, reserved_cost = s.cost
from (select tenant_id, job_id, sum(reserved_tokens) as tokens, sum(reserved_cost) as cost from agent_step
  where kind in ('model', 'summary') and state = 'running' group by tenant_id, job_id) s
where j.tenant_id = s.tenant_id and j.id = s.job_id;

-- A call of a tool that was refused has never begun, and counts as none.
update agent_step set started_at = null where kind = 'tool' and state = 'failed' and started_at = ended_at;

alter table agent_job force row level security;
alter table agent_step force row level security;
