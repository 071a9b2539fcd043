-- The exact text that an attempt sends, written with its claim: what became of it is found out by this text alone, whatever is
-- done to the item afterwards. Null for likes and reposts, which have none.
alter table attempt add sent_text text;
alter table engagement_attempt add sent_text text;

-- Earlier attempts take it from their item where the item still holds what was approved, by the hash that the approval left; of
-- others nobody can tell what they sent. Policies hold for the owner of the tables too, so they are off for these two statements.
alter table attempt no force row level security;
alter table item no force row level security;
alter table engagement_attempt no force row level security;
alter table engagement no force row level security;

update attempt a set sent_text = i.body from item i
where i.tenant_id = a.tenant_id and i.id = a.item_id and a.state not in ('failed', 'unsent')
  and i.approved_hash = encode(sha256(convert_to('{"body":' || to_json(i.body)::text || ',"attachments":[],"account":'
    || coalesce(to_json(i.account_external_id)::text, 'null') || '}', 'UTF8')), 'hex');

update engagement_attempt a set sent_text = e.body from engagement e
where e.tenant_id = a.tenant_id and e.id = a.engagement_id and a.state not in ('failed', 'unsent') and e.body is not null
  and e.approved_hash = encode(sha256(convert_to('{"body":' || to_json('{"action":' || to_json(e.action)::text || ',"network":'
    || to_json(e.network)::text || ',"post_id":' || to_json(e.post_id)::text || ',"body":' || to_json(e.body)::text || '}')::text
    || ',"attachments":[],"account":' || coalesce(to_json(e.account_external_id)::text, 'null') || '}', 'UTF8')), 'hex');

alter table attempt force row level security;
alter table item force row level security;
alter table engagement_attempt force row level security;
alter table engagement force row level security;
