-- Rules, targets, products and learnings can be deleted. What they led to stays: the runs of a rule and the signals of a target go on
-- naming it by its id, as items name the learnings that they follow.
alter table rule_run drop constraint rule_run_tenant_id_rule_id_fkey;
alter table signal drop constraint signal_tenant_id_target_id_fkey;
grant delete on rule, product to tendril_app;
