/** The network that a load posts through, and how a harness looks into it. */
import type postgres from 'postgres'
import type { Story } from '#test/support/growth/story'
import type { Deployment } from '#test/support/processes/server'
import type { Counts } from '../ledger.ts'
import { newStories } from '../stories.ts'
import { faultsOf, type PostingOptions } from './options.ts'
import { SANDBOX_POSTS } from './verdict.ts'

/** An item that could be asked for again. */
export interface Returned {
  id: string
  tenant_id: string
}

export interface PlayedNetwork {
  /** The table that shows what was posted, by `id`, `account_id` and `text`. */
  posts: string
  /** Makes workspaces with an account each. */
  stories(world: Deployment, count: number, limits: Record<string, number>): Promise<Story[]>
  /** Of the process that is started as the nth. */
  env(nth: number): Record<string, string>
  /** After so many kills. */
  killed?(kills: number): Promise<void>
  /** How often a client asks for a post whose network took nothing. */
  asks: number
  /** Everybody has asked for what they wanted, and the kills are over. */
  over?(owner: postgres.Sql): Promise<void>
  /** What is asked for again when everything has settled; and how often, at most. */
  returned(owner: postgres.Sql): Promise<readonly Returned[]>
  rounds: number
  /** Fills the table of posts, if it is not the network's own. */
  gather?(owner: postgres.Sql): Promise<void>
  /** What else is seen at the end, and what must never or must have happened. */
  more?(owner: postgres.Sql): Promise<{
    counts: Counts
    never: Record<string, number>
    atStake?: Record<string, number>
  }>
}

/** It knows no keys: what was returned is sent again only if people ask. */
export const sandboxNetwork = (
  options: Pick<PostingOptions, 'seed' | 'faults'>,
): PlayedNetwork => ({
  posts: SANDBOX_POSTS,
  stories: newStories,
  env: (nth) => ({ SANDBOX_FAULTS: faultsOf(options, nth) }),
  asks: 1,
  returned: (owner) => owner<Returned[]>`select id, tenant_id from item
    where status = 'approved' and last_error = 'network_error_not_posted'`,
  rounds: 1,
})
