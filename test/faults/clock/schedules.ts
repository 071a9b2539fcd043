/**
 * Schedules of the agent while clocks step: none fires before its time, none twice for one time,
 * and none stands still.
 */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import type { DatabaseClock } from '#test/support/database/clock'
import { eventually } from '#test/support/eventually'
import type { Story } from '#test/support/growth/story'
import { firstShown } from './verdict.ts'

/**
 * Gives each workspace a schedule for every quarter of an hour, before any server knows the
 * workspace, and records what fires: `due`, the time that it stood for, and `real_at`, by the clock
 * that never steps.
 */
export const plantSchedules = async (
  owner: postgres.Sql,
  stories: readonly Story[],
): Promise<void> => {
  await owner`create table fired (schedule_id uuid not null, due timestamptz not null,
    real_at timestamptz not null)`
  await owner.unsafe(`create function note_fired() returns trigger language plpgsql security definer as $$ begin
    insert into public.fired values (new.id, old.next_at, pg_catalog.clock_timestamp());
    return null; end $$`)
  await owner`create trigger note_fired after update on agent_schedule for each row
    when (old.last_job_id is distinct from new.last_job_id) execute function note_fired()`
  for (const { tenantId } of stories) {
    const id = newId()
    await owner`insert into agent_schedule (id, tenant_id, goal, pattern, time_zone, status,
      next_at, on_behalf, created_at, updated_at)
      select ${id}, ${tenantId}, '/learnings list', '*/15 * * * *', 'Europe/Berlin', 'active',
        now(),
        jsonb_build_object('kind', 'key', 'id', k.id, 'personId', null), now(), now() from api_key k
          where k.tenant_id = ${tenantId}`
    await owner`insert into work (id, tenant_id, lane, kind, concurrency_key, ref_id,
      origin, run_at)
      select ${newId()}, tenant_id, 'agent', 'agent_schedule', 'schedule', id, 'automatic', next_at
        from agent_schedule where id = ${id}`
    await owner`update actor set wake_at = now() where tenant_id = ${tenantId}`
  }
}

export interface ScheduleVerdict {
  schedule_runs: number
  broken: string[]
}

/**
 * The clock may have stepped back between its showing of a time and the run's commit, so that the
 * run is late by then and not early.
 */
const earlyRuns = async (
  owner: postgres.Sql,
  history: DatabaseClock['history'],
): Promise<string[]> => {
  const runs = await owner<{ schedule_id: string; due: number; at: number }[]>`
    select schedule_id, (extract(epoch from due) * 1000)::float8 as due,
      (extract(epoch from real_at) * 1000)::float8 as at from fired`
  const early = runs.filter(
    ({ due, at }) => at < (firstShown(history, due, 0) ?? Number.POSITIVE_INFINITY),
  )
  return early.map(
    ({ schedule_id, due }) => `early: schedule ${schedule_id} for ${new Date(due).toISOString()}`,
  )
}

/** Once nothing is due any more. */
export const judgeSchedules = async (
  owner: postgres.Sql,
  history: DatabaseClock['history'],
): Promise<ScheduleVerdict> => {
  const overdue = () =>
    owner`select id from agent_schedule where status = 'active'
      and next_at <= stepped.clock_timestamp()`
  const late = await eventually(overdue, ({ length }) => length === 0)
  const faults = await owner<{ fault: string }[]>`
    select 'doubled: schedule ' || schedule_id || ' for ' || due as fault from fired
      group by schedule_id, due having count(*) > 1
    union all select 'stopped: schedule ' || id || ' is ' || status from agent_schedule
      where status <> 'active'
    union all select 'failed: job ' || id || ' ' || error from agent_job where kind = 'scheduled'
      and status = 'failed'`
  const [runs] = await owner<{ all: number }[]>`select count(*)::int as all from fired`
  const broken = [
    ...late.map(({ id }) => `overdue: schedule ${id}`),
    ...(await earlyRuns(owner, history)),
    ...faults.map(({ fault }) => fault),
  ]
  return { schedule_runs: runs!.all, broken }
}
