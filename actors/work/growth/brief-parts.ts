/** What the briefs of all kinds of drafts are made of. */
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { noRules } from '#domain/growth/drafting/format-rules'
import { channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import { productsForBrief } from '#domain/growth/drafting/product'
import { MOST_ACTIVE_LEARNINGS } from '#domain/growth/learning/learning'
import { limitsFor, type Networks } from '#port/network/registry'
import type { Sql } from '#store/engine/db'
import { currentDefault } from '#store/growth/connections'
import { channelNamed } from '#store/growth/growth-channels'
import { activeLearnings } from '#store/growth/learnings'
import { allProducts } from '#store/growth/products'
import { currentProfile } from '#store/growth/profiles'

/** Limits of length and form, from the network and the channel. */
export const formOf = async (
  sql: Sql,
  networks: Networks,
  kind: Item['kind'],
): Promise<Pick<DraftBrief, 'maxLength' | 'measure' | 'rules'>> => {
  const [limits, name] = [limitsFor(networks, await currentDefault(sql)), channelFor(kind)]
  const rules = (await channelNamed(sql, name))?.format_rules ?? noRules
  const most = limitOf(name, limits)
  return { maxLength: Math.min(most, rules.max_length ?? most), measure: limits.measure, rules }
}

/** How many earlier posts a new draft must not repeat. */
export const RECENT_POSTS = 100

export const productsNow = async (sql: Sql) => productsForBrief(await allProducts(sql))

/** The part of every brief that comes from the workspace. */
export const workspaceBrief = async (sql: Sql) => ({
  profile: (await currentProfile(sql)).profile,
  learnings: await activeLearnings(MOST_ACTIVE_LEARNINGS)(sql),
  ...(await productsNow(sql)),
})

export const ARCHIVED_MEANWHILE =
  'generation_failed: a product it mentions was archived in the meantime; ask again'
