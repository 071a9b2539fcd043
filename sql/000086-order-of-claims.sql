-- While much is due, groups of work take turns: the first due row of one.
create index work_due_in_lane on work (tenant_id, lane, origin, run_at, id);
