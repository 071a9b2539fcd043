-- The event to deliver next, however many wait: the first in this order that no earlier one of its subject precedes.
create index outbox_due on outbox (tenant_id, next_at, created_at, id) where state = 'pending';
