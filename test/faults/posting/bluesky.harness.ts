/**
 * The load of posting.harness.ts for Bluesky: two servers, killed in turn, post to accounts on a
 * PDS that loses answers and hangs, answers 5xx before and after it has done what was asked, sets
 * limits, and ends sessions. Every post that was asked for stands in its repository once, and none
 * waits for a person. `npm run fault:bluesky -- --items 300 --kills 100 --seed 7`; with
 * `--edits 30`, so many are edited or opened again when they are due, and nothing is done late;
 * with `--naive`, a publisher that creates records under new keys and sends again must be found
 * out.
 */
import type { Verdict } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { runNaive } from './naive.ts'
import { naivePds } from './naive-pds.ts'
import type { PostingOptions } from './options.ts'
import { lateFaults, openPdsNetwork, postingFaults } from './pds-network.ts'
import { runPosting } from './posting.harness.ts'

type BlueskyOptions = Omit<PostingOptions, 'faults' | 'doubts'>

/** The server ends all sessions after so many kills. */
const SESSIONS_END_EVERY = 3

export const runBluesky = async (options: BlueskyOptions): Promise<Verdict> => {
  const random = numbers(options.seed + 2)
  const faults = [...(options.edits === 0 ? lateFaults : []), ...postingFaults]
  await using network = await openPdsNetwork({ faults, random })
  const { pds } = network
  network.killed = async (kills) => {
    if (kills % SESSIONS_END_EVERY === 0) pds.expireAccess()
  }
  return await runPosting({ ...options, faults: '', doubts: 'counted' }, network)
}

export const runNaiveBluesky = async (options: BlueskyOptions): Promise<Verdict> => {
  await using network = await naivePds(numbers(options.seed + 2))
  return await runNaive({ ...options, edits: 0, faults: '', doubts: 'left' }, network)
}

if (import.meta.main) {
  const defaults = { items: 300, kills: 100, edits: 0, workspaces: 10, clients: 30, seed: 1 }
  await alone(
    'bluesky',
    defaults,
    ({ naive, ...given }) => (naive ? runNaiveBluesky : runBluesky)(given),
    'naive',
  )
}
