-- Why a batch is ready with fewer posts than were asked for: how many of how many, and the reason. Null of batches from before: nobody kept it.
alter table batch add column shortfall text;
