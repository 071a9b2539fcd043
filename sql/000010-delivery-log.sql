-- The delivery log of a workspace, newest first. What nobody has asked for is not in it, so workspaces without an endpoint pay nothing.
create index outbox_log on outbox (tenant_id, id) where state <> 'unwanted';
