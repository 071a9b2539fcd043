/** A network that remembers every request and answers each as its fate says. */
import type { Network, NetworkAccount, PublishRequest, PublishResult, Timeline } from '#port/network/network'
import { NetworkError } from '#port/network/network'
import { checkWire } from './rules.ts'
import { type Node, nowOf, SKEW_MS, type Wire, type World } from './world.ts'

const AMBIGUOUS = 44
const TELLING = 60

const results: Record<Wire['fate']['answer'], (externalId: string) => PublishResult> = {
  posted: (externalId) => ({ kind: 'posted', externalId, url: null }),
  refused: () => ({ kind: 'refused', reason: 'refused' }),
  rate_limited: () => ({ kind: 'not_applied', reason: 'rate_limited', detail: '', retryAfterMs: 20_000 }),
  unreachable: () => ({ kind: 'not_applied', reason: 'unreachable', detail: '' }),
  disconnected: () => ({ kind: 'disconnected', reason: 'revoked' }),
  unknown: () => ({ kind: 'unknown', reason: 'reset' }),
}

/** The sender hears the answer, or at its own deadline that there is none; a dead one hears nothing. */
const answerTo = (world: World, node: Node, wire: Wire, { externalId, signal }: { externalId: string; signal: AbortSignal }) =>
  new Promise<PublishResult>((resolve) => {
    const { answer, answersInMs } = wire.fate
    const tell = (kind: Wire['fate']['answer']) => {
      if (!node.alive) return
      wire.answered ??= kind
      resolve(results[kind](externalId))
    }
    if (answersInMs !== null) world.clock.after(answersInMs, () => tell(answer))
    signal.addEventListener('abort', () => tell('unknown'))
  })

const publish = (world: World, node: Node, request: PublishRequest, signal: AbortSignal): Promise<PublishResult> => {
  const { fate } = world
  const wire: Wire = { itemId: checkWire(world, request), request, fate, answered: undefined }
  world.wires.push(wire)
  const externalId = `post-${world.posts.length + 1}`
  if (fate.appliesInMs !== null) {
    const createdAt = nowOf(world) + fate.appliesInMs + SKEW_MS
    world.posts.push({ externalId, account: request.account.externalId, text: request.text, createdAt, itemId: wire.itemId })
  }
  return answerTo(world, node, wire, { externalId, signal })
}

/** The post of an item that a person settled is no open attempt's: cut too short, it could be taken for that of another. */
const cutAt = ({ view, marked }: World): number => (view.cutAt === AMBIGUOUS && marked.size > 0 ? TELLING : (view.cutAt ?? Infinity))

const timelineOf = (world: World, account: NetworkAccount, since: Date): Timeline => {
  const { fails, lagMs } = world.view
  if (fails === 'error') throw new NetworkError('unreachable', 'no answer', 5_000)
  const cut = cutAt(world)
  const posts = world.posts
    .filter((post) => post.account === account.externalId && post.createdAt >= +since && post.createdAt - SKEW_MS <= nowOf(world) - lagMs)
    .map(({ externalId, text, createdAt }) => {
      const truncated = text.length > cut
      return { externalId, text: truncated ? `${text.slice(0, cut)}…` : text, truncated, createdAt: new Date(createdAt), url: null }
    })
  return { posts, complete: fails === 'no' }
}

export const simulatedNetwork = (world: World, node: Node): Network => ({
  name: 'simulated',
  capabilities: { maxLength: 280, maxLongLength: 25_000, measure: (text) => text.length, idempotent: false },
  publish: (request, signal) => publish(world, node, request, signal),
  readTimeline: async (account, since) => timelineOf(world, account, since),
})
