-- Servers count, over all workspaces, what is in doubt and which posts are late, for /metrics.
create policy doubts on attempt for select to tendril_system using (state = 'doubt');
create index attempt_doubt on attempt (intent_at) where state = 'doubt';

-- Late posts are found by the times at which their workspaces are to be woken, so that no scheduled
-- post costs the write of an index for this.
create policy overdue on work for select to tendril_system
  using (kind = 'send' and state = 'queued' and run_at < now());

create index connection_lost on connection (tenant_id) where status = 'disconnected';
create index channel_connection_failing on channel_connection (id) where status = 'failing';
