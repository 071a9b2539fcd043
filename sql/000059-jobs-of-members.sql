-- how many jobs messages in a member's name have begun
create index on channel_message (tenant_id, connection_id, sender, created_at) where identity_id is not null and state <> 'failed';
