-- Every statement names the tenant, by its policy, so an index on the id alone is useless next to one on (tenant_id, id), which becomes the
-- primary key. Every change of a post's state adds an entry to each index of its table. Foreign keys depend on the index of the key that they
-- name, and are made again. Postgres scans the tables for this, but rewrites none.
alter table article drop constraint article_tenant_id_item_id_fkey;
alter table attempt drop constraint attempt_tenant_id_item_id_fkey, drop constraint attempt_tenant_id_engagement_id_fkey;
alter table item_metric drop constraint item_metric_tenant_id_item_id_fkey;
alter table signal drop constraint signal_tenant_id_engagement_id_fkey;
alter table item drop constraint item_pkey, drop constraint item_tenant_id_id_key, add primary key (tenant_id, id);
alter table engagement drop constraint engagement_pkey, drop constraint engagement_tenant_id_id_key, add primary key (tenant_id, id);
alter table article add foreign key (tenant_id, item_id) references item;
alter table attempt
  add foreign key (tenant_id, item_id) references item,
  add foreign key (tenant_id, engagement_id) references engagement;
alter table item_metric add foreign key (tenant_id, item_id) references item;
alter table signal add foreign key (tenant_id, engagement_id) references engagement;

drop index audit_tenant_id_id_idx, item_metric_tenant_id_id_idx;
alter table audit drop constraint audit_pkey, add primary key (tenant_id, id);
alter table item_metric drop constraint item_metric_pkey, add primary key (tenant_id, id);

-- The counts by opening read the index on the state, which has the opening beside it. Posts without a batch need no entry.
drop index item_hook, item_tenant_id_status_id_idx, item_tenant_id_batch_id_idx;
create index item_status on item (tenant_id, status, id) include (hook);
create index on item (tenant_id, batch_id) where batch_id is not null;
