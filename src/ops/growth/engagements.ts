import { engagements } from '#contract/growth/engagements'
import { admitEngagement } from '#decisions/growth/admission'
import { endByHand, enqueueSend } from '#decisions/growth/send-work'
import { requireFeature, takeCap } from '#domain/app/plan'
import {
  approveEngagement,
  confirmEngagement,
  type EngagedPost,
  type Engagement,
  type EngagementRequest,
  engagementAnswer,
  engagementView,
  isWritten,
  rejectEngagement,
  requestExecution,
  requireAllowed,
} from '#domain/growth/drafting/engagement'
import { fail } from '#kernel/errors'
import type { Network } from '#port/network/network'
import { othersPost } from '#port/network/others-post'
import type { Sql } from '#store/engine/db'
import { forgetPending, resolvePending } from '#store/engine/idempotency'
import { type Effects, merge } from '#store/engine/letter'
import { accountFor, currentDefault } from '#store/growth/connections'
import { engagementById, listEngagements, lockEngagement, saveEngagement } from '#store/growth/engagements'
import { channelNamed } from '#store/growth/growth-channels'
import type { CommandContext, HandlerResult, Handlers, World } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'
import { type PostReading, postIdOf, readPostFor, storedPost } from '../reading-post.ts'

const replyOf = (engagement: Engagement) => ({ engagement: engagementView(engagement) })
const save = (engagement: Engagement, effects: Effects = {}) => ({
  reply: replyOf(engagement),
  effects: { ...effects, writes: [saveEngagement(engagement), ...(effects.writes ?? [])] },
})

const unreadPost = (network: Network, ref: string): EngagedPost => ({
  ...{ network: network.name, post_id: postIdOf(network, ref), post_url: null, post_author: null, post_text: null, addresses_us: false },
})

type Words = Pick<EngagementRequest, 'action' | 'instruction' | 'body'>

/** The post of the engagement. Without an account to read it, the engagement needs a body. Throws `not_found` or `conflict`. */
const foundPost = (reading: Exclude<PostReading, { kind: 'failed' }>, ref: string, { action, body }: Words): EngagedPost => {
  if (reading.kind === 'read')
    return reading.post ? storedPost(reading.network, reading.post) : fail('not_found', 'the network has no such post')
  if (isWritten(action) && body === null)
    fail('conflict', `drafting needs a connected account to read the post; connect an account, or pass the body of the ${action}`)
  return unreadPost(reading.network, ref)
}

const networkOf = ({ networks }: Pick<CommandContext, 'networks'>, { network }: EngagedPost): Network =>
  networks.named(network) ?? fail('conflict', `the network ${network} is no longer supported`)

/** The format rules: the network's, and those of the channel for replies. */
const ruleOn = async (sql: Sql, { limits: { measure, maxLength } }: Network) => ({
  ...{ measure, maxLength, channel: await channelNamed(sql, 'replies') },
})

/** Drafts an engagement on a post that has been read. */
export const draftEngagement = async (
  context: CommandContext,
  post: EngagedPost,
  { signalId, ...words }: Words & { signalId: string | null },
) => {
  const network = networkOf(context, post)
  const rule = await ruleOn(context.sql, network)
  const request = { ...post, ...words, signal_id: signalId }
  const preflight = network.preflight(words.action, othersPost(post))
  return admitEngagement(context.sql, { gate: context.gate, origin: 'manual' }, { request, rule, preflight })
}

const createFrom = async (context: CommandContext, reading: PostReading, { ref, ...words }: Words & { ref: string }) => {
  if (reading.kind === 'failed') throw reading.error
  const { record, effects } = await draftEngagement(context, foundPost(reading, ref, words), { ...words, signalId: null })
  return { reply: replyOf(record), effects, refId: record.id }
}

const refOf = ({ id }: Engagement) => ({ sendable: 'engagement', record_id: id }) as const

const inReview = ({ status, review }: Engagement): boolean => status === 'execute_unconfirmed' && review

const confirmInReview = async (context: CommandContext, before: Engagement): Promise<HandlerResult<ReturnType<typeof replyOf>>> => {
  const engagement = confirmEngagement(before, context.gate.now)
  const body = engagementAnswer(engagement)
  const effects = merge(await endByHand(context.sql, refOf(before), { state: 'posted', now: context.gate.now }), {
    writes: [resolvePending(engagement.id, 200, body)],
  })
  return { ...save(engagement, effects), answers: [{ refId: engagement.id, with: { status: 200, body } }] }
}

export const engagementHandlers = (world: Pick<World, 'ask' | 'networks'>): Handlers<typeof engagements> => ({
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Engagement>(listEngagements({ ...page, status })), page.limit)
    return { engagements: rows.map(engagementView), next_cursor }
  },

  create: {
    async prepare({ post: ref, action, instruction, body }, { tenantId }) {
      const reading = await readPostFor(world, tenantId, { post: ref, action })
      const words = { action, instruction: instruction?.trim() || null, body: body ?? null }
      return (context) => createFrom(context, reading, { ...words, ref })
    },
  },

  async approve({ id, body }, context) {
    const before = await lockEngagement(context.sql, id)
    if (inReview(before) && body === undefined) return confirmInReview(context, before)
    const account = await currentDefault(context.sql)
    const rule = await ruleOn(context.sql, networkOf(context, before))
    const accountExternalId = account?.network === before.network ? account.external_id : null
    return save(approveEngagement(before, { body, accountExternalId, ...rule, now: context.gate.now }))
  },

  async reject({ id, reason }, context) {
    const before = await lockEngagement(context.sql, id)
    const engagement = rejectEngagement(before, reason, context.gate.now)
    const effects = inReview(before) ? await endByHand(context.sql, refOf(before), { state: 'superseded', now: context.gate.now }) : {}
    return save(engagement, merge(effects, { writes: [forgetPending(id)] }))
  },

  execute: {
    async begin({ id }, context) {
      const { sql, gate } = context
      const engagement = requestExecution(await lockEngagement(sql, id), gate.now)
      const account = await accountFor(sql, engagement.account_external_id)
      if (account?.network !== engagement.network) fail('x_not_connected')
      requireAllowed(networkOf(context, engagement).preflight(engagement.action, othersPost(engagement)))
      const { feature, cap } = engagements.execute
      requireFeature(gate.plan, feature)
      const spend = [takeCap(gate, cap)]
      const effects = await enqueueSend(sql, 'engagement', { record: engagement, runAt: gate.now, origin: 'manual' })
      return { awaits: engagement.id, effects: { ...effects, spend, writes: [saveEngagement(engagement)] } }
    },
    async currentAnswer({ id }, { read }) {
      const [engagement] = await read<Engagement>(engagementById(id))
      if (!engagement) return fail('not_found', 'no such engagement')
      return { status: engagement.status === 'executed' ? 200 : 202, body: engagementAnswer(engagement) }
    },
  },
})
