-- Whether two calls gave the same, without reading what they gave. Null: it gave nothing yet, or before this column was.
alter table agent_step add column result_hash text;
