-- What is known of a send in doubt. A function, because a subquery is prepared with every statement that reads items, with the three tables
-- it names, and hardly any item is in doubt. It runs with the rights of its caller. A read that is due or running counts as due now; while
-- everything unattended is held, only manual reads take place.
create function item_doubt(item uuid, review boolean) returns jsonb
language sql stable begin atomic
  select jsonb_build_object('cause', coalesce(a.doubt_cause, 'no_answer'),
      'resolves', case when a.returns_from is null or item_doubt.review then 'by_person' else 'by_itself' end,
      'next_read_at', (select greatest(w.run_at, now()) from work w join actor on true
        where w.kind = 'reconcile' and w.ref_id = item_doubt.item and (w.origin = 'manual' or not actor.paused)))
    from attempt a where a.item_id = item_doubt.item and a.state in ('doubt', 'review');
end;
revoke execute on function item_doubt(uuid, boolean) from public;
grant execute on function item_doubt(uuid, boolean) to tendril_app;
