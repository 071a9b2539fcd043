-- Learnings are listed whatever their state.
create index on learning (tenant_id, id);
