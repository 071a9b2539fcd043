/**
 * Two servers, killed in turn, renew sessions by OAuth at a token endpoint that ends a grant at the
 * second use of a refresh token, and loses a tenth of its answers. An account is lost only if an
 * answer of its own was, and each one that is lost is announced.
 */
import type postgres from 'postgres'
import { blueskyEnv, openBlueskyApp } from '#test/support/network/bluesky-app'
import { connectedOauth } from '#test/support/network/oauth-walk'
import { type FakePds, openPds } from '#test/support/network/pds'
import { newDeployment, startServer } from '#test/support/processes/server'
import { startKilling } from '../killing.ts'
import { countIn, untilNoneIsLeft, type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { heldBy, recordHeld } from './held-tokens.ts'

interface OauthTokens {
  accounts: number
  kills: number
  seed: number
}

const TOKEN = '/oauth/token'
const LOST = 0.1
const EVERY_MS = 200
const STANDSTILL_MS = 30_000
const PLACES = 2
const LAST = 'last'

const connect = async (
  pds: FakePds,
  { accounts, database }: { accounts: number; database: object },
): Promise<void> => {
  const idle = { sweepMs: 0, lanes: [] }
  await using opened = await openBlueskyApp(idle, { pds, database })
  for (let nth = 0; nth < accounts; nth++) await connectedOauth(opened)
}

/** All renewals are due, even those that failed a moment ago. */
const hasten = async (owner: postgres.Sql): Promise<void> => {
  await owner`update work set run_at = now(), payload = payload - 'rests_until'
    where kind = 'renewal'`
  await owner`update actor set wake_at = now(), nudged = true`
}

/** Each account that is left has renewed its session once more. */
const renewOnce = async (owner: postgres.Sql): Promise<string[]> => {
  await owner`update work set payload = payload || jsonb_build_object(${LAST}::text, true)
    where kind = 'renewal'`
  return untilNoneIsLeft('renewals', STANDSTILL_MS, async () => {
    await hasten(owner)
    await Bun.sleep(EVERY_MS)
    // A renewal that was settled has a payload of its own.
    return countIn(owner`select count(*)::int as n from work
      where kind = 'renewal' and payload ? ${LAST}::text`)
  })
}

const seen = async (owner: postgres.Sql, { oauth }: FakePds) => {
  const held = Map.groupBy(await heldBy(owner), ({ did }) => did)
  const rows = await owner<{ did: string; status: string; told: boolean }[]>`
    select external_id as did, status, exists (select 1 from outbox o
      where o.tenant_id = c.tenant_id and o.type = 'growth.connection.lost') as told
    from connection c where network = 'bluesky'`
  const unstored = (did: string) =>
    oauth.renewals.filter(
      (one) =>
        one.did === did &&
        one.given !== undefined &&
        !held.get(did)!.some(({ token }) => token === one.given),
    )
  const lost = rows.filter(({ status }) => status !== 'connected')
  const usedAgain = oauth.renewals.filter(
    ({ did, sent, at }) => held.get(did)!.findLast((one) => one.at <= at)?.token !== sent,
  )
  const grants = new Map(oauth.grants.map((grant) => [grant.did, grant]))
  const kept = rows.filter(({ status }) => status === 'connected')
  return {
    lost,
    kept,
    unstored: rows.flatMap(({ did }) => unstored(did)),
    withoutCause: lost.filter(({ did }) => unstored(did).length === 0),
    untold: lost.filter(({ told }) => !told),
    usedAgain,
    outdated: kept.filter(({ did }) => {
      const grant = grants.get(did)!
      return grant.isOver || grant.refresh !== held.get(did)!.at(-1)!.token
    }),
  }
}

export const runOauthTokens = async ({ accounts, kills, seed }: OauthTokens): Promise<Verdict> => {
  await using pds = await openPds({ random: numbers(seed + 3) })
  await using deployment = await newDeployment()
  const { owner, server } = deployment
  await recordHeld(owner)
  await connect(pds, { accounts, database: server.database! })
  pds.fail(TOKEN, 'lost', { share: LOST })
  await using killing = await startKilling({
    places: PLACES,
    count: kills,
    next: numbers(seed),
    start: () => startServer({ ...server, env: blueskyEnv(pds) }),
  })
  while (killing.overSince() === undefined) {
    await hasten(owner)
    await Bun.sleep(EVERY_MS)
  }
  await killing.over
  pds.heal()
  // What was under way when its server died takes the first of these.
  const broken = [...(await renewOnce(owner)), ...(await renewOnce(owner))]
  const found = await seen(owner, pds)
  return verdictOn({
    counts: {
      oauth_accounts: found.lost.length + found.kept.length,
      oauth_kept: found.kept.length,
      oauth_lost: found.lost.length,
      oauth_renewals: pds.oauth.renewals.length,
      oauth_answers_lost: found.unstored.length,
    },
    broken,
    never: {
      'accounts that were lost although no answer of theirs was': found.withoutCause.length,
      'accounts that were lost and not announced': found.untold.length,
      'refresh tokens that were used although their successors were stored': found.usedAgain.length,
      'accounts that hold another token than the newest': found.outdated.length,
    },
    atStake: {
      oauth_renewals: pds.oauth.renewals.length,
      oauth_lost: found.lost.length,
      oauth_kept: found.kept.length,
    },
  })
}
