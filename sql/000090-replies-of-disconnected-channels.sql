-- A reply that is on the wire when its channel is disconnected stays, and takes its outcome: without a connection, and with the name of its channel.
alter table channel_reply alter column connection_id drop not null, add column channel text,
  add constraint channel_reply_of check (connection_id is not null or channel is not null);
