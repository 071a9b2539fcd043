-- Servers count, over all workspaces, what is left of today's budgets of reads, for /metrics.
create policy reads on counter for select to tendril_system
  using (key in ('reads_free', 'reads_payg'));
grant select (tenant_id, key, period, used) on counter to tendril_system;
create index counter_reads on counter (key, period) where key in ('reads_free', 'reads_payg');
