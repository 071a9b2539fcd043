/** Bluesky, played by a PDS in this process, as the network of a load. */
import type postgres from 'postgres'
import type { Story } from '#test/support/growth/story'
import { blueskyEnv, connectedPerson, openBlueskyApp } from '#test/support/network/bluesky-app'
import { type FakePds, openPds, type PdsOptions } from '#test/support/network/pds'
import type { PdsFault } from '#test/support/network/pds-faults'
import type { Deployment } from '#test/support/processes/server'
import { type Counts, countIn } from '../ledger.ts'
import { makeStories } from '../stories.ts'
import type { PlayedNetwork, Returned } from './network.ts'

/** What share of the requests for a method goes wrong in this way. */
export type Fault = readonly [method: string, fault: PdsFault, share: number]

const POSTS = 'on_network'
const [PUT, GET] = ['com.atproto.repo.putRecord', 'com.atproto.repo.getRecord']
export const REFRESH = 'com.atproto.server.refreshSession'

const WRITING: readonly (readonly [PdsFault, number])[] = [
  ['lost', 0.06],
  ['hang', 0.02],
  ['silent', 0.02],
  [{ status: 500 }, 0.04],
  [{ status: 502 }, 0.04],
  [{ status: 500, isApplied: true }, 0.03],
  [{ status: 502, isApplied: true }, 0.04],
  [{ slowMs: 1_500 }, 0.03],
  [{ limitedSeconds: 2 }, 0.03],
]

/** Of writing by this method. */
export const writingFaults = (method: string): Fault[] =>
  WRITING.map(([fault, share]) => [method, fault, share])

export const postingFaults: readonly Fault[] = [
  ...writingFaults(PUT),
  [GET, 'lost', 0.06],
  [GET, 'hang', 0.02],
  [GET, { status: 500 }, 0.06],
  [GET, { limitedSeconds: 2 }, 0.03],
  [REFRESH, 'lost', 0.1],
  [REFRESH, { status: 500 }, 0.05],
  [REFRESH, { status: 502, isApplied: true }, 0.05],
  [REFRESH, 'hang', 0.02],
]

/**
 * The PDS does what was asked after we have looked for it in vain. What is edited in between could
 * then stand there in its old words.
 */
export const lateFaults: readonly Fault[] = [
  [PUT, { slowMs: 17_000 }, 0.01],
  [GET, { status: 400, error: 'RecordNotFound' }, 0.25],
]

export const misbehave = (pds: FakePds, faults: readonly Fault[]): void => {
  for (const [method, fault, share] of faults) pds.fail(method, fault, { share })
}

/** Writes what the repositories hold into a table, where it can be compared with items. */
export const gatherRecords = async (
  owner: postgres.Sql,
  pds: FakePds,
  dids: readonly string[],
): Promise<void> => {
  const rows = dids.flatMap((did) =>
    pds
      .records(did, 'app.bsky.feed.post')
      .map(({ uri, value }) => ({ id: uri, account_id: did, text: String(value.text) })),
  )
  await owner`create table ${owner(POSTS)} (id text primary key, account_id text not null,
    text text not null)`
  if (rows.length > 0) await owner`insert into ${owner(POSTS)} ${owner(rows)}`
}

/** The table that `gatherRecords` fills. */
export const RECORDS = POSTS

export interface PdsNetwork extends PlayedNetwork, AsyncDisposable {
  pds: FakePds
  dids: string[]
}

interface Playing extends PdsOptions {
  faults: readonly Fault[]
  /** Begins when every account is connected. */
  begin?(pds: FakePds): void
}

const commitsOf = (pds: FakePds, dids: readonly string[]): number =>
  dids.reduce((sum, did) => sum + pds.commits(did), 0)

/** In what the network and the items must agree beyond what holds for every network. */
const compared = async (owner: postgres.Sql, { pds, dids }: Pick<PdsNetwork, 'pds' | 'dids'>) => {
  const commits = commitsOf(pds, dids)
  const records = await countIn(owner`select count(*)::int as n from ${owner(POSTS)}`)
  const elsewhere = await countIn(owner`select count(*)::int as n from item i
    where status = 'posted' and not exists (select 1 from ${owner(POSTS)} r
      where r.id = i.external_id and r.text = i.body and r.account_id = i.account_external_id)`)
  const missing = await countIn(owner`select count(*)::int as n from item
    where status not in ('posted', 'drafted')`)
  const inReview = await countIn(owner`select count(*)::int as n from item where review`)
  const lost = await countIn(owner`select count(*)::int as n from connection
    where network = 'bluesky' and status <> 'connected'`)
  const asked = (method: string) => pds.requests.filter((one) => one.endsWith(` ${method}`)).length
  const counts: Counts = {
    records,
    commits,
    missing,
    puts: asked(PUT),
    looks: asked(GET),
    renewals: asked(REFRESH),
    lost_accounts: lost,
  }
  return {
    counts,
    never: {
      'commits that made no post, or made one anew': Math.abs(commits - records),
      'posted, yet under another address': elsewhere,
      'asked for, yet not posted': missing,
      'waiting for a person': inReview,
      'accounts that ask for a new sign-in': lost,
    },
    atStake: { records, renewals: counts.renewals as number },
  }
}

/** Accounts on a PDS of their own, whose faults begin once they are connected. */
export const openPdsNetwork = async ({
  faults,
  begin,
  ...options
}: Playing): Promise<PdsNetwork> => {
  const pds = await openPds(options)
  const dids: string[] = []
  const stories = async (
    { owner, server }: Deployment,
    count: number,
    limits: Record<string, number>,
  ): Promise<Story[]> => {
    const idle = { sweepMs: 0, lanes: [] }
    await using opened = await openBlueskyApp(idle, { pds, database: server.database! })
    const make = async (): Promise<Story> => {
      const { story, person } = await connectedPerson(opened)
      dids.push(person.did)
      return story
    }
    const made = await makeStories(opened.app, owner, { count, limits, make })
    misbehave(pds, faults)
    begin?.(pds)
    return made
  }
  return {
    pds,
    dids,
    posts: POSTS,
    stories,
    env: () => blueskyEnv(pds),
    asks: 12,
    over: async () => pds.heal(),
    returned: (owner) => owner<Returned[]>`select id, tenant_id from item
      where (status = 'approved' and post_at is null) or status = 'publish_failed'`,
    rounds: 6,
    gather: (owner) => gatherRecords(owner, pds, dids),
    more: (owner) => compared(owner, { pds, dids }),
    [Symbol.asyncDispose]: () => pds[Symbol.asyncDispose](),
  }
}
