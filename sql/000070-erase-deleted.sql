-- Items and engagements that were deleted 30 days ago are erased, with all that is kept of them; only the audit goes on naming them. What
-- refers to a record goes first, so many rows at a time, and the record once nothing does.
create function sweep_deleted(swept uuid, most integer) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select public.sweep_rows(swept, now() - interval '30 days', most, array[
    ['revision', 'select ctid from public.revision where tenant_id = $1 and record_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['revision', 'select ctid from public.revision where tenant_id = $1 and record_id in (select id from public.engagement where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['comment', 'select ctid from public.comment where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_word', 'select ctid from public.item_word where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_print', 'select ctid from public.item_print where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item_metric', 'select ctid from public.item_metric where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['redraft', 'select ctid from public.redraft where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['article', 'select ctid from public.article where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['attempt', 'select ctid from public.attempt where tenant_id = $1 and item_id in (select id from public.item where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['attempt', 'select ctid from public.attempt where tenant_id = $1 and engagement_id in (select id from public.engagement where tenant_id = $1 and deleted_at < $2 order by deleted_at limit $3) limit $3'],
    ['item', 'select ctid from public.item r where tenant_id = $1 and deleted_at < $2 and not exists (select 1 from public.revision x where x.tenant_id = $1 and x.record_id = r.id) and not exists (select 1 from public.comment x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_word x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_print x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.item_metric x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.redraft x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.article x where x.tenant_id = $1 and x.item_id = r.id) and not exists (select 1 from public.attempt x where x.tenant_id = $1 and x.item_id = r.id) order by deleted_at limit $3'],
    ['engagement', 'select ctid from public.engagement r where tenant_id = $1 and deleted_at < $2 and not exists (select 1 from public.revision x where x.tenant_id = $1 and x.record_id = r.id) and not exists (select 1 from public.attempt x where x.tenant_id = $1 and x.engagement_id = r.id) and not exists (select 1 from public.signal x where x.tenant_id = $1 and x.engagement_id = r.id) order by deleted_at limit $3']])
$$;

revoke execute on function sweep_deleted(uuid, integer) from public;
grant execute on function sweep_deleted(uuid, integer) to tendril_system;
