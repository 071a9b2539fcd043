-- When the network was last asked what it counts of a posted item, whether or not a number had changed.
alter table item add column metrics_at timestamptz;
create index item_measured on item (tenant_id, posted_at) where external_id is not null;
