-- Whom the code of this row has to come from. A code that came from a sender whose name can be forged is followed by a second one, which is sent
-- to that sender: the row has its hash and its time from then on. Null: from anybody.
alter table channel_link_code add column sender text;

alter table channel_reply
  -- why it waits, or waited, for a person; null: it did not, or nobody noted it
  add column why text,
  -- a code that the message has in the place of its mask in the text: sealed, and bound to the row; null: none, or it is on its way
  add column secret bytea;
