/** A network that remembers every request and answers each as its fate says. */
import { countNames } from '#contract/records/growth/item'
import type {
  EngageRequest,
  Network,
  NetworkAccount,
  PublishRequest,
  PublishResult,
  Timeline,
} from '#port/network/network'
import { NetworkError } from '#port/network/network'
import { recordLook } from './again.ts'
import { checkEngage, react, readReactions, repliesSeen } from './engaging.ts'
import {
  AMBIGUOUS,
  APPLIES_WITHIN_MS,
  BROKEN_PROMISE,
  type Fate,
  fates,
  RETRY_AFTER_MS,
  TELLING,
} from './history.ts'
import { checkRead, checkWire } from './rules.ts'
import { count, type Node, nowOf, reach, SKEW_MS, type Wire, type World } from './world.ts'

const results: Record<Fate['answer'], (externalId: string) => PublishResult> = {
  posted: (externalId) => ({ kind: 'posted', externalId, url: null }),
  refused: () => ({ kind: 'refused', reason: 'refused' }),
  rate_limited: () => ({
    kind: 'not_applied',
    reason: 'rate_limited',
    detail: '',
    retryAfterMs: RETRY_AFTER_MS,
  }),
  unreachable: () => ({ kind: 'not_applied', reason: 'unreachable', detail: '' }),
  disconnected: () => ({ kind: 'disconnected', reason: 'revoked' }),
  unknown: () => ({ kind: 'unknown', reason: 'reset', cause: 'no_answer' }),
  server_error: () => ({ kind: 'unknown', reason: '503', cause: 'server_error' }),
}

/** The sender hears the answer, or at its own deadline that there is none. */
const answerTo = (
  world: World,
  node: Node,
  wire: Wire,
  { externalId, signal }: { externalId: string; signal: AbortSignal },
) =>
  new Promise<PublishResult>((resolve) => {
    const { answer, answersInMs } = wire.fate
    const tell = (kind: Fate['answer']) =>
      reach(node, () => {
        wire.answered ??= kind
        resolve(results[kind](externalId))
      })
    if (answersInMs !== null) world.clock.after(answersInMs, () => tell(answer))
    signal.addEventListener('abort', () => tell('unknown'))
  })

/**
 * A text that the account has posted already is refused: a sign that it is out there, and no proof.
 */
const DUPLICATE: Fate = { appliesInMs: null, answersInMs: 200, answer: 'unknown' }

const isDuplicate = (world: World, { account, text }: PublishRequest): boolean =>
  world.posts.some(
    (post) =>
      post.account === account.externalId &&
      post.text === text &&
      post.createdAt - SKEW_MS <= nowOf(world),
  )

const countSender = (world: World, node: Node): void => {
  if (world.memory.paused) count(world, 'sent while paused')
  if (node === world.node) return
  count(world, node.hasHung ? 'sent by a former owner after it hung' : 'sent by a former owner')
}

const publish = (
  world: World,
  node: Node,
  request: PublishRequest,
  signal: AbortSignal,
): Promise<PublishResult> => {
  const duplicate = world.fate.appliesInMs !== null && isDuplicate(world, request)
  const late = !duplicate && !node.promises && world.fate === fates['5xx, posted late']
  if (late) count(world, 'network broke no promise')
  const fate = duplicate ? DUPLICATE : late ? BROKEN_PROMISE : world.fate
  if (duplicate) count(world, 'network duplicate refused')
  const wire: Wire = {
    itemId: checkWire(world, node, request),
    request,
    fate,
    from: node,
    at: nowOf(world),
    answered: undefined,
  }
  world.wires.push(wire)
  countSender(world, node)
  const externalId = `post-${world.posts.length + 1}`
  if (fate.appliesInMs !== null) {
    const createdAt = nowOf(world) + fate.appliesInMs + SKEW_MS
    world.posts.push({
      externalId,
      account: request.account.externalId,
      text: request.text,
      createdAt,
      itemId: wire.itemId,
    })
  }
  return answerTo(world, node, wire, { externalId, signal })
}

const engage = async (
  world: World,
  node: Node,
  request: EngageRequest,
  signal: AbortSignal,
): Promise<PublishResult> => {
  const { fate } = world
  const wire: Wire = {
    itemId: checkEngage(world, node, request),
    request,
    fate,
    from: node,
    at: nowOf(world),
    answered: undefined,
  }
  world.wires.push(wire)
  const externalId =
    fate.appliesInMs === null
      ? ''
      : react(world, request, { id: wire.itemId, appliesInMs: fate.appliesInMs })
  return answerTo(world, node, wire, { externalId, signal })
}

/**
 * The post of an item that a person settled, or one made by hand, is no open attempt's: cut too
 * short, it could be taken for another's.
 */
const cutAt = ({ view, marked, posts }: World): number => {
  const isOthers = marked.size > 0 || posts.some(({ itemId }) => itemId === null)
  return view.cutAt === AMBIGUOUS && isOthers ? TELLING : (view.cutAt ?? Infinity)
}

/** An incomplete one shows nothing of what it could show. */
const timelineOf = (
  world: World,
  node: Node,
  { account, since }: { account: NetworkAccount; since: Date },
): Timeline => {
  const { fails, lagMs } = world.view
  world.readWhole.set(account.id, fails === 'no')
  count(world, fails === 'no' ? 'read complete' : `read ${fails}`)
  if (fails !== 'no') {
    node.seen.set(account.id, { at: nowOf(world), whole: false, posts: [] })
    recordLook(world, node, { whole: false, posts: [] })
  }
  if (fails === 'error') throw new NetworkError('unreachable', 'no answer', 5_000)
  if (fails === 'incomplete') return { posts: [], complete: false }
  if (lagMs > 0) count(world, 'read lagging')
  const cut = cutAt(world)
  const seen = world.posts.filter(
    (post) =>
      post.account === account.externalId &&
      post.createdAt >= +since &&
      post.createdAt - SKEW_MS <= nowOf(world) - lagMs,
  )
  node.seen.set(account.id, { at: nowOf(world), whole: true, posts: seen })
  recordLook(world, node, { whole: true, posts: seen })
  const posts = seen.map(({ externalId, text, createdAt }) => {
    const truncated = text.length > cut
    if (truncated) count(world, 'read truncated')
    return {
      externalId,
      text: truncated ? `${text.slice(0, cut)}…` : text,
      truncated,
      createdAt: new Date(createdAt),
      url: null,
    }
  })
  return { posts: [...posts, ...repliesSeen(world, account, { since, lagMs })], complete: true }
}

export const simulatedNetwork = (world: World, node: Node): Network => ({
  name: 'simulated',
  limits: {
    maxLength: 280,
    maxLongLength: 25_000,
    measure: (text) => text.length,
    tier: 'free',
    counting: 'as characters',
    actions: [],
    counts: countNames,
    prices: null,
    maxApplyMs: node.promises ? APPLIES_WITHIN_MS : null,
    completeReadBack: node.promises,
  },
  publish: (request, signal) => publish(world, node, request, signal),
  readTimeline: async (account, since, signal) => {
    signal.throwIfAborted()
    checkRead(world, node)
    return timelineOf(world, node, { account, since })
  },
  // Counts nothing: reading numbers posts nothing, and is no part of the histories.
  readMetrics: async () => [],
  // Nobody else is there.
  readHandle: async () => null,
  readPost: async (account, postId, signal) => {
    signal.throwIfAborted()
    checkRead(world, node)
    return readReactions(world, account, postId)
  },
  postIdIn: () => undefined,
  engage: (request, signal) => engage(world, node, request, signal),
  preflight: () => ({ allowed: true }),
})
