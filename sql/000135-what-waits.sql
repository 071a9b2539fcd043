-- What waits for a person is listed by where it came from. This is the place of a kind of source
-- among the others, in the order of `sourceKinds` of src/contract/records/growth/source.ts. A new
-- kind takes new indexes as well.
create function source_place(kind text) returns integer language sql immutable parallel safe
  return case kind when 'batch' then 1 when 'article' then 2 when 'rule' then 3 when 'person' then 4
    when 'key' then 5 when 'agent' then 6 when 'system' then 7 when 'resurfaced' then 8 else 9 end;
revoke execute on function source_place(text) from public;
grant execute on function source_place(text) to tendril_app;

-- The drafts and engagements that wait, in the order in which they are listed: those of one source
-- together, the oldest first. Copies have nothing in common but that they are copies. Postgres takes
-- no condition with a coalesce to an index where a policy stands before it.
create index item_waiting on item (tenant_id, kind, source_place(source_kind),
  (case when source_id is null or source_kind = 'resurfaced' then id else source_id end), id)
  where status = 'drafted';
create index engagement_waiting on engagement (tenant_id, source_place(source_kind),
  (case when source_id is null or source_kind = 'resurfaced' then id else source_id end), id)
  where status = 'drafted';
create index playbook_version_draft on playbook_version (tenant_id, id) where state = 'draft';
