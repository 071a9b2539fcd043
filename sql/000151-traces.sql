-- Traces, where a collector is set. Null: the row is in no trace.
--
-- The span that the row's own spans belong to, as W3C's traceparent; since when the row has
-- belonged to it; and when it last had a span. src/kernel/trace.ts writes and reads it.
alter table work add column trace text check (length(trace) <= 100);
