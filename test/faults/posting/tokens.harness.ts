/**
 * Two servers, killed in turn, post to accounts of Bluesky whose PDS takes each access token for
 * two seconds only, loses a tenth of its answers to renewals and logins, and once forgets the
 * sessions of a third of the accounts. No account is lost, no refresh token is used once its
 * successor is stored, and every post that was asked for stands there once.
 * Ten accounts by OAuth follow: oauth-tokens.ts.
 * `npm run fault:tokens -- --accounts 50 --kills 60 --seed 7 --oauth 10`.
 */
import type postgres from 'postgres'
import { countIn, untilNoneIsLeft, type Verdict } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { recordHeld, tokensSeen } from './held-tokens.ts'
import { runOauthTokens } from './oauth-tokens.ts'
import { type Fault, openPdsNetwork, REFRESH } from './pds-network.ts'
import { runPosting } from './posting.harness.ts'

export interface TokensOptions {
  accounts: number
  posts: number
  kills: number
  clients: number
  seed: number
}

const ACCESS_MS = 2_000
const USUAL_MS = 7_200_000
const FORGOTTEN = 3
const LOGIN = 'com.atproto.server.createSession'
const faults: readonly Fault[] = [
  [REFRESH, 'lost', 0.1],
  [LOGIN, 'lost', 0.1],
]

const EVERY_MS = 2_000
const STANDSTILL_MS = 20_000

/** Posts that have often found their session over wait for up to five minutes. */
const bringForward = (owner: postgres.Sql): Promise<string[]> =>
  untilNoneIsLeft('sends', STANDSTILL_MS, async () => {
    await owner`update work set run_at = now() where kind = 'send' and run_at > now()`
    await owner`update actor set wake_at = now(), nudged = true`
    await Bun.sleep(EVERY_MS)
    return countIn(owner`select count(*)::int as n from work where kind = 'send'`)
  })

export const runTokens = async ({ accounts, posts, ...given }: TokensOptions): Promise<Verdict> => {
  await using network = await openPdsNetwork({
    faults,
    random: numbers(given.seed + 2),
    begin: (pds) => {
      pds.accessMs = ACCESS_MS
      pds.expireAccess()
    },
  })
  const { pds, dids, stories, over, more } = network
  const forgets = Math.ceil(given.kills / 2)
  let [logins, postedBefore] = [0, 0]
  return await runPosting(
    { ...given, items: posts, workspaces: accounts, edits: 0, faults: '', doubts: 'counted' },
    {
      ...network,
      async stories(world, ...wanted) {
        await recordHeld(world.owner)
        const made = await stories(world, ...wanted)
        logins = pds.sessions.length
        return made
      },
      async killed(kills) {
        if (kills !== forgets) return
        for (const did of dids.filter((_, nth) => nth % FORGOTTEN === 0)) pds.endSessions(did)
      },
      async over(owner) {
        postedBefore = (await owner`select 1 from item where status = 'posted'`).length
        await over!(owner)
        pds.accessMs = USUAL_MS
        await bringForward(owner)
      },
      async more(owner) {
        const seen = await tokensSeen(owner, pds)
        const again = pds.sessions.slice(logins).filter(({ sent }) => sent === null).length
        const { counts, never, atStake } = await more!(owner)
        const { stored, repeated, usedAgain, outdated } = seen
        return {
          counts: {
            ...counts,
            posted_before_healing: postedBefore,
            tokens_stored: stored,
            renewals_repeated: repeated,
            used_again: usedAgain,
            outdated,
            signed_in_again: again,
          },
          never: {
            ...never,
            'tokens that were used although their successors were stored': usedAgain,
            'accounts that hold neither the newest token nor the one before it': outdated,
          },
          atStake: {
            ...atStake,
            posted_before_healing: postedBefore,
            signed_in_again: again,
          },
        }
      },
    },
  )
}

/** Then the same of accounts by OAuth, without posts. */
const runBoth = async ({
  oauth,
  ...options
}: TokensOptions & { oauth: number }): Promise<Verdict> => {
  const { counts, broken } = await runTokens(options)
  const { kills, seed } = options
  const more = await runOauthTokens({ accounts: oauth, kills, seed })
  return { counts: { ...counts, ...more.counts }, broken: [...broken, ...more.broken] }
}

if (import.meta.main) {
  const defaults = { accounts: 50, posts: 200, kills: 60, clients: 30, seed: 1, oauth: 10 }
  await alone('tokens', defaults, runBoth)
}
