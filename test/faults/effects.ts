/** What the database says after a load: nothing lost, nothing doubled, no second owner. */

import type postgres from 'postgres'
import type { Fleet } from './fleet.ts'
import { countIn } from './ledger.ts'
import type { Sent } from './load.ts'

export interface Effects {
  acknowledged: number
  /** Acknowledged, but without effect. */
  lost: number
  /** Commands with more than one effect. */
  doubled: number
  /** Letters of one workspace that ran at the same time. */
  overlapping: number
  /**
   * Letters of a process whose workspace another had taken: of an older epoch, or under another's
   * name.
   */
  unfenced: number
  /** Workspaces whose state is not what their last letter wrote. */
  overwritten: number
}

/**
 * How many of these commands, by their X-Request-Id, left no audit row, and how many left several.
 */
export const effectsOf = async (
  owner: postgres.Sql,
  acknowledged: string[],
): Promise<Pick<Effects, 'lost' | 'doubled'>> => ({
  lost: await countIn(owner`select count(*)::int as n from unnest(${acknowledged}::text[]) k
    where k not in
      (select request_id from audit where request_id is not null)`),
  doubled: await countIn(owner`select count(*)::int as n from
      (select 1 from audit where operation = 'growth.profile.update' group by tenant_id, request_id
        having count(*) > 1) d`),
})

const lettersOfOldEpochs = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select count(*)::int as n from
    (select epoch < max(epoch) over (partition by tenant_id order by seq)
      or incarnation is null as late from faults.letter) f where late`)

/** Incarnations, and epochs of a workspace, under which more than one server wrote. */
const sharedPlaces = (owner: postgres.Sql): Promise<number> =>
  countIn(owner`select count(*)::int as n from
    (select 1 from faults.letter group by incarnation having count(distinct server) > 1
      union all select 1 from faults.letter group by tenant_id, epoch
        having count(distinct server) > 1) s`)

export const readEffects = async (owner: postgres.Sql, sent: Sent[]): Promise<Effects> => {
  // Start times come from the server, in whole milliseconds.
  const acknowledged = sent.filter(({ at }) => at !== undefined).map(({ key }) => key)
  return {
    acknowledged: acknowledged.length,
    ...(await effectsOf(owner, acknowledged)),
    overlapping: await countIn(owner`select count(*)::int as n from
      (select began < date_trunc('milliseconds', lag(ended) over w) as beside from faults.letter
        window w as (partition by tenant_id order by seq)) o where beside`),
    unfenced: (await lettersOfOldEpochs(owner)) + (await sharedPlaces(owner)),
    overwritten: await countIn(owner`select count(*)::int as n from
      (select distinct on (tenant_id) tenant_id, request_id from faults.letter
        where request_id = any(${sent.map(({ key }) => key)})
        order by tenant_id, seq desc) l join profile p on p.tenant_id = l.tenant_id
          where p.data->>'goal' is distinct from l.request_id`),
  }
}

/**
 * Milliseconds after `since` (epoch milliseconds) until another server first wrote, for each of
 * these workspaces.
 */
export const takeovers = async (
  owner: postgres.Sql,
  { name, tenants, since }: { name: string; tenants: string[]; since: number },
) => {
  const rows = await owner<
    { tenant_id: string; ms: number }[]
  >`select tenant_id, (extract(epoch from min(ended)) * 1000 - ${since})::float as ms
    from faults.letter where tenant_id = any(${tenants}::uuid[]) and server <> ${name}
      and ended > to_timestamp(${since}::float / 1000)
    group by tenant_id`
  return rows.map(({ ms }) => ms)
}

/** The fleet's workspaces that the process at `url` owns now. */
export const ownedBy = async (
  { owner, tenants }: Pick<Fleet, 'owner' | 'tenants'>,
  url: string,
): Promise<string[]> => {
  const rows = await owner<
    { tenant_id: string }[]
  >`select tenant_id from actor a join node n on n.incarnation = a.owner
    where n.url = ${url} and tenant_id = any(${tenants.map(({ id }) => id)}::uuid[])`
  return rows.map((row) => row.tenant_id)
}
