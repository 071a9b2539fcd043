-- Accounts of networks outside, which need credentials and may lose them.
alter table connection
  add column display_name text,
  -- sealed, in base64, by the network that uses them
  add column credentials text,
  -- why it no longer sends, for people
  add column status_reason text,
  drop constraint connection_status_check,
  add constraint connection_status_check
    check (status in ('connected', 'needs_reauth', 'suspended', 'disconnected'));

-- Under what key the network has what this try sent, where we make the keys: a doubt ends there.
alter table attempt add column network_key text;

drop index connection_lost;
create index connection_lost on connection (tenant_id) where status <> 'connected';
