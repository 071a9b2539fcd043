/** Signals for the posts of a read, whatever made us read them. */
import type { Claiming } from '#actors/engine/lane'
import { productsForBrief } from '#domain/growth/drafting/product'
import { withinShare } from '#domain/growth/learning/mentions'
import {
  MOST_OPEN_SIGNALS,
  newSignal,
  overflow,
  type Signal,
  topicsOf,
} from '#domain/growth/learning/signal'
import type { Target } from '#domain/growth/learning/target'
import { newId } from '#kernel/ids'
import type { OthersPost } from '#port/network/network'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import { allProducts } from '#store/growth/products'
import { currentProfile } from '#store/growth/profiles'
import {
  expireSignals,
  forgetSignals,
  insertSignal,
  knownSignals,
  openByAuthor,
  openScores,
} from '#store/growth/signals'

interface Found {
  /** Newest first. */
  posts: readonly OthersPost[]
  network: string
  /** Null: they address an account of ours. */
  target: Pick<Target, 'id' | 'priority'> | null
}

/** Those that are no signals yet. Of strangers, nobody has more than a share of the open ones. */
const freshOf = async (sql: Sql, { posts, network, target }: Found): Promise<OthersPost[]> => {
  const known = await knownSignals(sql, {
    network,
    postIds: posts.map(({ externalId }) => externalId),
  })
  const fresh = posts.filter(({ externalId }) => !known.has(externalId))
  if (target) return fresh
  const authors = [...new Set(fresh.map(({ author }) => author.handle))]
  return withinShare(fresh, await openByAuthor(sql, { network, authors }))
}

/** Signals for the new posts, up to the maximum of open ones, and how many posts were new. */
export const newSignals = async (
  { sql, gate: { now } }: Claiming,
  read: Found,
): Promise<{ effects: Effects; found: number }> => {
  const { network, target } = read
  const fresh = await freshOf(sql, read)
  const over = forgetSignals(now)
  if (fresh.length === 0) return { effects: { writes: [expireSignals([], now), over] }, found: 0 }
  const { products } = productsForBrief(await allProducts(sql))
  const terms = topicsOf((await currentProfile(sql)).profile, products)
  const signals = fresh.flatMap((post): Signal[] => {
    const { externalId, url, author, text, addressesUs } = post
    const engaged = {
      network,
      post_id: externalId,
      post_url: url,
      post_author: author.handle,
      post_text: text,
      addresses_us: addressesUs,
    }
    const one = { post, engaged, targetId: target?.id ?? null }
    const signal = newSignal(newId(), one, { terms, priority: target?.priority ?? null, now })
    return signal ? [signal] : []
  })
  const tooMany = overflow([...(await openScores(sql)), ...signals], MOST_OPEN_SIGNALS)
  const kept = signals.map(
    (signal): Signal => (tooMany.has(signal.id) ? { ...signal, status: 'expired' } : signal),
  )
  const occurrences = kept.flatMap(({ id: ref, score, status }) =>
    status === 'open' ? [{ kind: 'signal' as const, ref, score }] : [],
  )
  const writes = [
    ...kept.map((signal) => insertSignal(signal)),
    expireSignals([...tooMany], now),
    over,
  ]
  return { effects: { writes, occurrences }, found: signals.length }
}
