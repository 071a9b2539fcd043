-- Lists of items by the time of creation and by account, of which no index gave the order.
create index item_created on item (tenant_id, status, created_at, id);
create index item_sender on item (tenant_id, account_external_id, id);
-- Accounts that people choose, before an approval binds one.
create index item_chosen on item (tenant_id, account_id, id) where account_id is not null;
