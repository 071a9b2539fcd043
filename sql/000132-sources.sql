-- Where drafts come from, so that those that wait for a person can be listed by it: the kind of
-- source and its id. src/domain/growth/drafting/source.ts says which is which. A draft of which
-- nothing is known any more came from the system.
alter table item
  add column source_kind text not null default 'system' check (source_kind in
    ('batch', 'article', 'rule', 'person', 'key', 'agent', 'system', 'resurfaced', 'arm')),
  add column source_id uuid;
alter table engagement
  add column source_kind text not null default 'system' check (source_kind in
    ('batch', 'article', 'rule', 'person', 'key', 'agent', 'system', 'resurfaced', 'arm')),
  add column source_id uuid;
-- the rule that requested it
alter table batch add column rule_id uuid;
alter table article add column rule_id uuid;

alter table item no force row level security;
alter table engagement no force row level security;
alter table batch no force row level security;
alter table article no force row level security;
alter table rule_run no force row level security;
alter table revision no force row level security;
alter table audit no force row level security;

update batch b set rule_id = r.rule_id
  from rule_run r where r.tenant_id = b.tenant_id and r.made_id = b.id and r.made_kind = 'batch';
update article a set rule_id = r.rule_id
  from rule_run r where r.tenant_id = a.tenant_id and r.made_id = a.id and r.made_kind = 'article';

update item i set (source_kind, source_id) = (
  select kind, id from (
    select 1 as rank, 'resurfaced' as kind, i.resurfaced_from as id
      where i.resurfaced_from is not null
    union all select 2, 'arm', i.experiment_id where i.experiment_id is not null
    union all select 3, case when b.rule_id is null then 'batch' else 'rule' end,
        coalesce(b.rule_id, b.id)
      from batch b where b.tenant_id = i.tenant_id and b.id = i.batch_id
    union all select 4, case when a.rule_id is null then 'article' else 'rule' end,
        coalesce(a.rule_id, a.id)
      from article a where a.tenant_id = i.tenant_id and a.item_id = i.id
    union all select 5, first.by->>'kind',
        case when first.by->>'kind' <> 'system' then (first.by->>'id')::uuid end
      from (select coalesce((select r.written_by from revision r where r.tenant_id = i.tenant_id
          and r.record_id = i.id order by r.number limit 1), i.written_by) as by) first
      where first.by is not null
    union all select 6, 'system', null) known
  order by rank limit 1);

update engagement e set (source_kind, source_id) = (
  select kind, id from (
    select 1 as rank, 'rule' as kind, r.rule_id as id from rule_run r
      where r.tenant_id = e.tenant_id and r.made_id = e.id and r.made_kind = 'engagement'
    union all (select 2, a.actor_kind, a.actor_id::uuid from audit a
      where a.tenant_id = e.tenant_id and a.ref_id = e.id
        and a.operation in ('growth.engagements.create', 'growth.signals.engage')
        and a.actor_kind in ('person', 'key', 'agent') order by a.id limit 1)
    union all select 3, 'system', null) known
  order by rank limit 1);

alter table item force row level security;
alter table engagement force row level security;
alter table batch force row level security;
alter table article force row level security;
alter table rule_run force row level security;
alter table revision force row level security;
alter table audit force row level security;
