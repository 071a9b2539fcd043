-- What a mail holds beside its text: made with the parts of a reply, before the first of them is sent. One for each part; null: none, or all
-- parts have been sent.
alter table channel_reply add column html text[];
