-- Each claim of a job asks whether its conversation holds words of people outside. Of a long one that was read message by message.
create index agent_message_untrusted on agent_message (tenant_id, conversation_id) where untrusted;
