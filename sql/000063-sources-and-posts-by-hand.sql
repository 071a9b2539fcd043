-- Rules, targets, products and learnings can be deleted. What they led to stays: the runs of a rule and the signals of a target go on
-- naming it by its id, as items name the learnings that they follow.
alter table rule_run drop constraint rule_run_tenant_id_rule_id_fkey;
alter table signal drop constraint signal_tenant_id_target_id_fkey;
grant delete on rule, product to tendril_app;

-- Posts that people made by hand are known by their ids on the network, as those of attempts are.
create index item_external on item (tenant_id, account_external_id, external_id) where external_id is not null;

-- Engagements are found by the signal that they answer.
create index engagement_of_signal on engagement (tenant_id, signal_id, id) where signal_id is not null;
